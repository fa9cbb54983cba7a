/**
 * The most that this machine does with these threads, found by running it, not by looking it up: a large matrix product
 * in the runtime, in float and in 8-bit integers, and a sum of two arrays that no cache holds.
 */
import { parseModel, saveModel } from "../../ir/index.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asDelivered, scratchFile } from "../model-runs.js";
import type { MachinePeaks } from "./roofline.js";

/** Takes a few milliseconds: some runs of it find nothing else on the machine. */
const SIDE = 512;
/** Three arrays of 32 MB. */
const LENGTH = 1 << 23;

/** What the sum reads is read again after it, so that its result is written to a place of its own. */
const probes = {
  float: {
    text: `(a: f32[${SIDE},${SIDE}]) -> (y) { y = MatMul(a, $w: f32[${SIDE},${SIDE}]) }`,
    op: "MatMul",
    work: 2 * SIDE ** 3,
  },
  integer: {
    text: `(a: u8[${SIDE},${SIDE}]) -> (y) { y = MatMulInteger(a, $w: i8[${SIDE},${SIDE}]) }`,
    op: "MatMulInteger",
    work: 2 * SIDE ** 3,
  },
  sum: {
    text: `(a: f32[1], b: f32[1]) -> (y) {
      p = Expand(a, $n: i64[1] = {${LENGTH}})
      q = Expand(b, n)
      s = Add(p, q)
      m = ReduceMax<keepdims=1>(s)
      t = Mul(p, m)
      u = Mul(q, m)
      v = ReduceMax<keepdims=1>(t)
      w = ReduceMax<keepdims=1>(u)
      y = Add(v, w)
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
