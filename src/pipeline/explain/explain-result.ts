/** `explain` of a stored result: it says what a run did, and needs no model for it. */
import * as v from "valibot";
import type { PassFacts } from "../result.js";
import { parseSavedResult } from "../saved-result.js";
import type { UnfusedNode } from "../unfused/find-unfused.js";
import type { Explanation } from "./explain.js";

const floatNode = v.object({ node: v.string(), op: v.string(), reason: v.string() });

const region = v.looseObject({
  region: v.string(),
  nodes: v.array(v.string()),
  form: v.string(),
  sqnrDb: v.nullable(v.number()),
  beforeMs: v.number(),
  afterMs: v.number(),
  reason: v.string(),
});

/** What is told of it. */
const toldParts = v.looseObject({
  schemaVersion: v.number(),
  command: v.string(),
  passes: v.array(
    v.looseObject({
      name: v.string(),
      applied: v.number(),
      skipped: v.array(v.object({ node: v.string(), reason: v.string() })),
    }),
  ),
  unfused: v.optional(
    v.array(v.looseObject({ node: v.string(), op: v.string(), pass: v.nullable(v.string()), reason: v.string() })),
  ),
  quantization: v.nullable(
    v.looseObject({
      mode: v.string(),
      why: v.string(),
      float: v.array(floatNode),
      stored: v.optional(v.array(floatNode)),
      regions: v.optional(v.array(region)),
      integers: v.optional(v.looseObject({ integer: v.number(), float: v.array(floatNode), conversions: v.number() })),
    }),
  ),
  unquantized: v.optional(
    v.looseObject({ why: v.string(), float: v.array(floatNode), regions: v.optional(v.array(region)) }),
  ),
  precision: v.optional(v.nullable(v.looseObject({ float: v.array(floatNode) }))),
});

/** Throws RESULT_INVALID, or RESULT_VERSION for one of another schema. */
export function explainResult(path: string, text: string): Explanation {
  const { command, passes, unfused, quantization, unquantized, precision } = parseSavedResult(path, text, toldParts);
  const why = quantization
    ? [`quantized ${quantization.mode}: ${quantization.why}`]
    : unquantized
      ? [`not quantized: ${unquantized.why}`]
      : [];
  const regions = quantization?.regions ?? unquantized?.regions;
  const { integer, float: unfit } = quantization?.integers ?? { integer: 0, float: [] };
  if (integer + unfit.length > 0) {
    why.push(`${integer} of ${integer + unfit.length} nodes that were to run on integers do in the runtime's graph`);
  }
  return {
    path,
    source: "result",
    passes,
    unfused: unfused ?? declined(passes),
    runtimeSpecific: [],
    lossy: [],
    nodes: [],
    float: [
      ...(quantization?.float ?? []),
      ...(quantization?.stored ?? []).map((node) => ({
        ...node,
        reason: `its weights alone are integers: ${node.reason}`,
      })),
      ...(unquantized?.float ?? []),
      ...unfit,
      ...(precision?.float ?? []),
    ],
    ...(regions && { regions }),
    notes: [`what \`${command}\` did`, ...why],
  };
}

/** What passes declined, each node once: results of older versions say no more. */
function declined(passes: readonly PassFacts[]): readonly UnfusedNode[] {
  const first = new Map<string, UnfusedNode>();
  for (const { name, skipped } of passes) {
    for (const { node, reason } of skipped) {
      if (!first.has(node)) first.set(node, { node, op: "", pass: name, reason });
    }
  }
  return [...first.values()];
}
