/**
 * The most that this machine does with these threads, found by running it, not by looking it up: a large matrix product
 * in the runtime, in float and in 8-bit integers, and a sum of two arrays that no cache holds.
 */
import { parseModel, saveModel } from "../../ir/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asDelivered, scratchFile } from "../model-runs.js";
import type { MachinePeaks } from "./roofline.js";

/**
 * Weights that the nearest cache does not hold, and rows enough to use each of them often. Smaller products reach a tenth more,
 * which no layer of a model does for long; squares of this side a tenth less. A run takes 5 to 25 ms.
 */
const [ROWS, SIDE] = [256, 2048];
/** Four arrays of 64 MB. */
const LENGTH = 1 << 24;

/**
 * The sum waits until a third array was written and read, so that no cache still holds its operands, and all three are read
 * again after it, so that its result is written to a place that no cache holds either. What makes the runtime keep that order
 * are the shapes: none is known before the reading it waits for is done.
 */
const probes = {
  float: {
    text: `(a: f32[${ROWS},${SIDE}]) -> (y) { y = MatMul(a, $w: f32[${SIDE},${SIDE}]) }`,
    op: "MatMul",
    work: 2 * ROWS * SIDE ** 2,
  },
  integer: {
    text: `(a: u8[${ROWS},${SIDE}]) -> (y) { y = MatMulInteger(a, $w: i8[${SIDE},${SIDE}]) }`,
    op: "MatMulInteger",
    work: 2 * ROWS * SIDE ** 2,
  },
  sum: {
    text: `(a: f32[1], b: f32[1]) -> (y) {
      p = Expand(a, $n: i64[1] = {${LENGTH}})
      q = Expand(b, n)
      greatestP = ReduceMax<keepdims=1>(p)
      greatestQ = ReduceMax<keepdims=1>(q)
      filling = Mul(greatestP, greatestQ)
      r = Expand(filling, n)
      greatestR = ReduceMax<keepdims=1>(r)
      whole = Cast<to=7>(greatestR)
      before = Max(n, whole)
      p1 = Reshape(p, before)
      q1 = Reshape(q, before)
      s = Add(p1, q1)
      greatestS = ReduceMax<keepdims=1>(s)
      wholeS = Cast<to=7>(greatestS)
      after = Max(n, wholeS)
      p2 = Reshape(p, after)
      q2 = Reshape(q, after)
      r2 = Reshape(r, after)
      lastP = ReduceMax<keepdims=1>(p2)
      lastQ = ReduceMax<keepdims=1>(q2)
      lastR = ReduceMax<keepdims=1>(r2)
      y1 = Add(lastP, lastQ)
      y = Add(y1, lastR)
    }`,
    op: "Add",
    work: 12 * LENGTH,
  },
} as const;

/** Rejects as running a model does. */
export async function machinePeaks(config: RuntimeConfig, context: RunContext): Promise<MachinePeaks> {
  const perSecond = async ({ text, op, work }: (typeof probes)[keyof typeof probes]): Promise<number> => {
    const path = scratchFile(context, "peak");
    saveModel(parseModel(text), path).commit();
    context.origins?.set(path, `the ${op} that finds the peaks of this machine`);
    const data = { path: "random", random: { seed: 1, count: 1 } };
    const { steps } = await context.runtime.profileNodes(path, data, { ...asDelivered(config), provider: "cpu" });
    const slowest = steps.filter((step) => step.op === op).sort((a, b) => b.leastMs - a.leastMs)[0]!;
    return (1000 * work) / slowest.leastMs;
  };
  return {
    flopsPerSecond: await perSecond(probes.float),
    intOpsPerSecond: await perSecond(probes.integer),
    bytesPerSecond: await perSecond(probes.sum),
  };
}
