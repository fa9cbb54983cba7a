/**
 * What a range does to the products that read it. Beside each path from an activation x to
 * the next product, a copy of the path that starts from x through a candidate range:
 *
 *   x ------------------> Relu -> Conv -> y
 *   x -> Q -> DQ -------> Relu -> Conv -> y'       error = sum (y - y')^2, signal = sum y^2
 *
 * Rounding errors are many and independent and mostly cancel in a sum of products; clipped
 * values are few, alike and do not. No histogram of x tells how far that goes: the weights
 * do. All candidates of all tensors run in one model, so that one run a sample answers.
 */
import { attr, type Graph, type Model, type Node, Tensor, type Value } from "../ir/index.js";
import type { ActivationScheme } from "./scheme.js";

export interface RangeTrial {
  readonly label: string;
  /** Names of the outputs that hold sum y^2, and for each candidate sum (y - y')^2. Scalars. */
  readonly signal: string;
  readonly errors: readonly string[];
}

/** Nodes followed from a tensor to the product behind it. */
const LONGEST_PATH = 4;

const products = new Set(["Conv", "ConvTranspose", "MatMul", "Gemm"]);

/**
 * Adds the copies to the model, which should be one to throw away, and makes the sums its
 * only outputs. `candidates` by value label; labels must be unique.
 */
export function addRangeTrials(
  model: Model,
  values: readonly Value[],
  candidates: ReadonlyMap<string, readonly ActivationScheme[]>,
): readonly RangeTrial[] {
  const writer = new TrialWriter(model.graph);
  // Before anything is added, which would be followed too.
  const paths = values.map(pathToProduct);
  const trials = values.map((value, i) => writer.trial(value, paths[i]!, candidates.get(value.label)!));
  const wanted = new Set(trials.flatMap(({ signal, errors }) => [signal, ...errors]));
  for (const { name } of model.graph.outputs) if (!wanted.has(name)) model.graph.removeOutput(name);
  return trials;
}

class TrialWriter {
  #made = 0;
  readonly #signals = new Map<Value, string>();

  constructor(readonly graph: Graph) {}

  trial(value: Value, path: readonly Node[], candidates: readonly ActivationScheme[]): RangeTrial {
    const last = path.at(-1);
    const end = last ? last.output : value;
    // Behind both of what is compared, and before what comes next: so copies live shortly.
    const before = last ? last.next : value.producer ? value.producer.next : this.graph.firstNode;
    const errors = candidates.map((scheme) => {
      let at = this.#throughIntegers(value, scheme, before);
      let from = value;
      for (const node of path) {
        const inputs = node.inputs.map((input) => (input === from ? at : input));
        from = node.output;
        at = this.#add(node.op, inputs, before, node.attributes);
      }
      return this.#sumOfSquares(this.#add("Sub", [end, at], before), before);
    });
    let signal = this.#signals.get(end);
    if (signal === undefined) {
      signal = this.#sumOfSquares(end, before);
      this.#signals.set(end, signal);
    }
    return { label: value.label, signal, errors };
  }

  #throughIntegers(value: Value, { scale, zeroPoint }: ActivationScheme, before: Node | null): Value {
    const name = this.#name();
    const parameters = [
      this.graph.addConstant(`${name}/scale`, Tensor.scalar("f32", scale)),
      this.graph.addConstant(`${name}/zero_point`, Tensor.ofArray("u8", [], Uint8Array.of(zeroPoint))),
    ];
    return this.#add("DequantizeLinear", [this.#add("QuantizeLinear", [value, ...parameters], before), ...parameters], before);
  }

  #sumOfSquares(value: Value, before: Node | null): string {
    const sum = this.#add("ReduceSumSquare", [value], before, { keepdims: attr.int(0) });
    this.graph.addOutput(sum.label, sum);
    return sum.label;
  }

  #add(
    op: string,
    inputs: readonly (Value | null)[],
    before: Node | null,
    attributes: NonNullable<Parameters<Graph["addNode"]>[0]["attributes"]> = {},
  ): Value {
    const name = this.#name();
    return this.graph.addNode({ op, name, inputs, attributes, outputs: [{ label: name }] }, before).output;
  }

  #name(): string {
    return `range-trial/${++this.#made}`;
  }
}

/** The nodes from a value to the nearest product behind it; as far as can be followed where there is none. */
function pathToProduct(value: Value): readonly Node[] {
  const path: Node[] = [];
  for (let at = value; path.length < LONGEST_PATH; ) {
    const readers = at.uses.flatMap((use) => (use.kind === "input" && isCopyable(use.node, at.graph) ? [use.node] : []));
    const next = readers.find(isProduct) ?? readers[0];
    if (!next) break;
    path.push(next);
    if (isProduct(next)) break;
    at = next.output;
  }
  return path;
}

const isProduct = (node: Node): boolean => node.domain === "" && products.has(node.op);

/** One result, no body, of the main graph. */
const isCopyable = (node: Node, main: Graph | null): boolean =>
  node.domain === "" && node.graph === main && node.outputs.length === 1 && node.bodies.length === 0;
