/**
 * How many nodes a model has once every call of a function has given way to what the function does, as runtimes have it. A file
 * of a few hundred bytes can ask for billions: each of 31 functions calls the next one twice.
 */
import { InferOptError } from "../../base/errors.js";
import { bodiesOf, type ModelProto, type NodeProto } from "../../onnx/index.js";
import { canonicalDomain } from "./domain.js";

/** Far beyond what exporters write, and still something that a runtime can hold. */
const MOST_NODES = 2_000_000;

/** What tells functions apart: `domain::name`, with the overload behind it where there is one. */
export const titleOf = (domain: string | undefined, name: string | undefined, overload: string | undefined): string =>
  `${canonicalDomain(domain)}::${name ?? ""}${overload ? `:${overload}` : ""}`;

/** Throws MODEL_CALLS_TOO_MANY. A function that calls itself is for the runtime to refuse. */
export function refuseEndlessCalls({ graph, functions = [] }: ModelProto, path: string): void {
  if (functions.length === 0) return;
  const bodies = new Map(functions.map((fn) => [titleOf(fn.domain, fn.name, fn.overload), namesIn(fn.node ?? [])]));
  const sizes = new Map<string, number>();
  const sizeOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + (sizes.get(name) ?? 1), 0);
  for (const title of bodies.keys()) {
    const open = [title];
    const begun = new Set<string>();
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const names = bodies.get(at)!;
      const next = begun.has(at)
        ? []
        : names.filter((name) => bodies.has(name) && !sizes.has(name) && !begun.has(name));
      begun.add(at);
      if (next.length > 0) open.push(...new Set(next));
      else {
        if (!sizes.has(at)) sizes.set(at, sizeOf(names));
        open.pop();
      }
    }
  }
  const nodes = sizeOf(namesIn(graph?.node ?? []));
  if (nodes <= MOST_NODES) return;
  throw new InferOptError(
    "MODEL_CALLS_TOO_MANY",
    "input",
    `${path} has ${nodes} nodes once its functions are put in the place of their calls`,
    {
      hint: `No exporter writes functions that call functions so often, and no runtime takes more than ${MOST_NODES}: export it again.`,
      fields: { path, nodes, most: MOST_NODES },
    },
  );
}

/** What the nodes and those of their bodies call, or would call if it were a function. */
const namesIn = (nodes: readonly NodeProto[]): string[] =>
  nodes.flatMap((node) => [
    titleOf(node.domain, node.op_type, node.overload),
    ...bodiesOf(node).flatMap((body) => namesIn(body.node ?? [])),
  ]);
