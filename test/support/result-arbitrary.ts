/** Results made by chance: whatever the schema admits. */
import fc from "fast-check";
import type { GraphFacts } from "../../src/pipeline/inspect/graph-facts.js";
import type { RunResult } from "../../src/pipeline/result.js";
import type { SchemaPart } from "../../src/report/json-schema.js";
import { resultSchema } from "../../src/report/result-schema.js";

/** Names that strangers might give to nodes, to break what shows them. */
export const hostileNames = [
  "</script><img src=x onerror=alert(1)>",
  "</title></svg><svg onload=alert(1)>",
  `"'&<>\`|`,
  "%0A::error::%",
  "a|b\n## c\r\n- d",
  "\u001b[31mred\u001b]8;;http://x\u0007",
  "\u202etxt.exe\u2066",
  "名前/レイヤー",
  "=cmd|' /C calc'!A0",
  "]]><!--",
  "@everyone #1 <!-- -->",
  "n".repeat(10_000),
  "",
  "__proto__",
];

const texts = fc.oneof(fc.constantFrom(...hostileNames), fc.string({ maxLength: 12 }));
const numbers = fc.oneof(
  fc.nat(2000),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((value) => value / 7),
  fc.constantFrom(0, 1, -1, 1e-9, 1e12),
);

function numbersFrom({ pipe = [] }: SchemaPart): fc.Arbitrary<number> {
  if (pipe.some(({ type }) => type === "gt_value")) return numbers.map((value) => Math.abs(value) || 1);
  return pipe.some(({ type }) => type === "min_value") ? numbers.map(Math.abs) : numbers;
}

function arbitraryOf(part: SchemaPart): fc.Arbitrary<unknown> {
  switch (part.type) {
    case "string":
      return texts;
    case "number":
      return numbersFrom(part);
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constant(part.literal);
    case "picklist":
      return fc.constantFrom(...part.options!);
    case "nullable":
      return fc.option(arbitraryOf(part.wrapped!), { nil: null, freq: 3 });
    case "union":
      return fc.oneof(...(part.options as readonly SchemaPart[]).map(arbitraryOf));
    case "array": {
      const bound = (kind: string): unknown => part.pipe?.find(({ type }) => type === kind)?.requirement;
      const minLength = (bound("min_length") as number | undefined) ?? 0;
      const maxLength = (bound("max_length") as number | undefined) ?? 4;
      return fc.array(arbitraryOf(part.item!), { minLength, maxLength });
    }
    case "tuple":
      return fc.tuple(...part.items!.map(arbitraryOf));
    case "loose_object": {
      const entries = Object.entries(part.entries!);
      const required = entries.filter(([, { type }]) => type !== "optional").map(([name]) => name);
      const model = Object.fromEntries(
        entries.map(([name, each]) => [name, arbitraryOf(each.type === "optional" ? each.wrapped! : each)]),
      );
      return fc.record(model, { requiredKeys: required });
    }
    default:
      throw new Error(`no values of ${part.type}`);
  }
}

/** What JSON Schema cannot say: lists of one length, places that are there. */
function sound(result: RunResult): RunResult {
  const { graphs, sweep, request, latency, ...rest } = result as RunResult & Record<string, unknown>;
  const { distribution, ...timed } = latency ?? {};
  const least = distribution
    ? Math.min(distribution.at.length, distribution.baselineMs.length, distribution.candidateMs.length)
    : 0;
  const cut = distribution && {
    at: distribution.at.slice(0, least),
    baselineMs: distribution.baselineMs.slice(0, least),
    candidateMs: distribution.candidateMs.slice(0, least),
  };
  return {
    ...rest,
    latency: latency && { ...timed, ...(cut && { distribution: cut }) },
    ...(graphs && { graphs: { before: soundGraph(graphs.before), after: soundGraph(graphs.after) } }),
    ...(sweep &&
      sweep.settings.length > 0 && { sweep: { ...sweep, fastest: 0, best: sweep.best === null ? null : 0 } }),
    ...(request &&
      request.stages.length > 0 && {
        request: {
          ...request,
          stages: request.stages.map((stage, i) => (i === 0 ? { ...stage, name: "inference" } : stage)),
          first: { ...request.first, stages: ["inference"] },
        },
      }),
  } as RunResult;
}

function soundGraph(graph: GraphFacts | null): GraphFacts | null {
  if (!graph) return null;
  const each = <T>(list: readonly T[], other: T): T[] => graph.nodes.map((_, i) => list[i] ?? other);
  return {
    ...graph,
    ops: each(graph.ops, "Conv"),
    values: each(graph.values, "v"),
    reads: graph.nodes.map((_, i) =>
      [...new Set((graph.reads[i] ?? []).map((at) => Math.abs(Math.trunc(at)) % 5))].filter((at) => at < i),
    ),
    precisions: each(graph.precisions, "f32"),
    weightBytes: each(graph.weightBytes, 8),
    weightTypes: each(graph.weightTypes, "f32"),
    parts: each(graph.parts, 1),
  };
}

/** Optional fields are missing at random. */
export const anyResult = (arbitraryOf(resultSchema as unknown as SchemaPart) as fc.Arbitrary<RunResult>).map(sound);
