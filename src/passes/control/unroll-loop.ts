/**
 * A Loop that runs a known small number of times becomes what it does, iteration by
 * iteration, and one that never runs becomes its initial states:
 *
 *   s, c = Loop<body=(i, k, a) -> (k, b, d) { ... }>(2, true, x)
 *     =>   b0, d0 = body(0, true, x);  s, d1 = body(1, true, b0);
 *          c = Concat<axis=0>(Unsqueeze(d0), Unsqueeze(d1))
 *
 * Loops cost their runtime much more than the nodes in them, but a graph must not grow
 * out of hand: only so many bytes as stack.ts says are added, one iteration always.
 */
import {
  type DType,
  type Graph,
  graphsWithin,
  isStatic,
  type Node,
  nodesWithin,
  opsetOf,
  packedBytes,
  Tensor,
  type Value,
} from "../../ir/index.js";
import { isPure } from "../../ops/facts.js";
import { defineGraphPass, spliceBody } from "../../rewrite/index.js";
import { constantIntegers } from "../../rewrite/match.js";
import { behindIdentity, boolOf } from "./condition-value.js";
import { replaceOutputs } from "./replace-outputs.js";
import { isRead, stack, whyTooLong } from "./stack.js";

export const unrollLoop = defineGraphPass({
  name: "unroll-loop",
  summary: "Write out a Loop that runs a known small number of times",
  numerics: "exact",
  revealsTypes: "for the next round",
  run({ model, claim, skipped }) {
    for (const graph of [...graphsWithin(model.graph)].reverse()) {
      for (const node of graph.nodes()) {
        const plan = node.is("Loop") ? planOf(node, opsetOf(model)) : null;
        if (plan === null) continue;
        if (typeof plan === "string") {
          skipped(node.displayName, plan);
          continue;
        }
        if (!claim(node.displayName)) continue;
        replaceOutputs(node, plan.times === 0 ? outputsOfNone(node, plan) : unroll(node, plan));
      }
    }
  },
});

interface Plan {
  readonly body: Graph;
  readonly times: number;
  readonly states: number;
}

/** null: no Loop that can be counted; a text: why it stays. */
function planOf(node: Node, opset: number): Plan | string | null {
  const body = node.bodies[0];
  if (!body || body.inputs.length < 2 || body.inputs.length !== node.inputs.length) return null;
  const states = body.inputs.length - 2;
  if (node.inputs.slice(2).some((value) => !value) || body.outputs.length < states + 1) return null;
  const times = timesOf(node, body);
  if (times === null) return null;
  const plan = { body, times, states };
  if (times === 0)
    return outputsAreTypedWhenEmpty(node, plan)
      ? plan
      : "it never runs, and the shape of what it collects is not known";
  const collects = node.outputs.slice(states).some(isRead);
  const tooLong = whyTooLong(body, times, collects ? 1 : 0);
  if (tooLong) return tooLong;
  if (times > 1 && ![...nodesWithin(body)].every(isPure)) return "a node in it may do something else each time";
  return collects && opset < 13 && times > 0 ? "the opset is too old to write out what it collects" : plan;
}

/** How often a Loop runs; null when that depends on the input. */
function timesOf(node: Node, body: Graph): number | null {
  const [limit, condition] = node.inputs;
  const most = limit ? (constantIntegers(limit)?.[0] ?? null) : Number.POSITIVE_INFINITY;
  const starts = condition ? boolOf(condition) : true;
  if (starts === false || (most !== null && most <= 0)) return 0;
  if (starts === null || most === null) return null;
  const next = behindIdentity(body.outputs[0]!.value);
  const goesOn = next === body.inputs[1] ? true : boolOf(next);
  if (goesOn === false) return 1;
  if (most === 1) return 1;
  return goesOn === true && Number.isFinite(most) ? most : null;
}

function unroll(node: Node, { body, times, states }: Plan): Value[] {
  const { graph } = node;
  let current = node.inputs.slice(2) as Value[];
  const collected = body.outputs.slice(states + 1).map((): Value[] => []);
  const constants = new Map<Value, Value>();
  const go = graph.addConstant(body.inputs[1]!.label, boolLike(body.inputs[1]!));
  for (let i = 0; i < times; i++) {
    const count = Tensor.i64(dimsOf(body.inputs[0]!), [i]);
    const results = spliceBody(
      body,
      node,
      [graph.addConstant(body.inputs[0]!.label, count), go, ...current],
      constants,
    );
    current = results.slice(1, states + 1);
    for (const [at, values] of collected.entries()) values.push(results[states + 1 + at]!);
  }
  const stacked = collected.map((values, at) => {
    return isRead(node.outputs[states + at]) ? stack(node, values, 0) : null;
  });
  return [...current, ...stacked] as Value[];
}

/** The states as they were, and nothing collected: no rows of a shape that the body tells. */
function outputsOfNone(node: Node, { body, states }: Plan): Value[] {
  const empty = body.outputs.slice(states + 1).map(({ value }, at) => {
    const output = node.outputs[states + at];
    if (!output || output.useCount === 0) return null;
    const [dtype, dims] = [value.dtype!, [0, ...(value.shape as readonly number[])]];
    return node.graph.addConstant(output.label, Tensor.fromBytes(dtype, dims, new Uint8Array(packedBytes(dtype, 0))));
  });
  return [...(node.inputs.slice(2) as Value[]), ...empty] as Value[];
}

function outputsAreTypedWhenEmpty(node: Node, { body, states }: Plan): boolean {
  return body.outputs.slice(states + 1).every(({ value }, at) => {
    const output = node.outputs[states + at];
    if (!output || output.useCount === 0) return true;
    const dtype: DType | null = value.dtype;
    return dtype !== null && dtype !== "string" && isStatic(value.shape);
  });
}

/** What the body says its counter and condition look like: a scalar, or one element. */
const dimsOf = (input: Value): number[] => (input.shape?.length === 1 ? [1] : []);
const boolLike = (input: Value): Tensor => Tensor.ofArray("bool", dimsOf(input), Uint8Array.of(1));
