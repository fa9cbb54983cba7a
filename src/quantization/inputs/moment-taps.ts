/** What is known of the channels that products read, sample by sample: their means, and how they spread about them. */
import { elementCount, type Node } from "../../ir/index.js";
import type { ChannelMoments } from "../../observe/index.js";
import { isTurnedGemm } from "../gemm.js";
import type { InputMoments } from "./round-in-view.js";
import type { WeightLayout } from "./rounding-kernel.js";

/** Axis of the channels that a product's weights meet; null where it is not known. */
export function inputAxis(node: Node): number | null {
  if (node.op === "Gemm") return 1;
  if (node.op === "Conv" || node.op === "ConvTranspose") return node.inputs[1]?.constant ? 1 : null;
  const rank = node.inputs[0]?.shape?.length;
  return node.op === "MatMul" && rank !== undefined && rank > 1 ? rank - 1 : null;
}

/** How the weights of a Conv, Gemm or MatMul lie; null for other products: a ConvTranspose is rounded as the Conv that it becomes. */
export function weightLayout(node: Node, dims: readonly number[]): WeightLayout | null {
  const [rows = 0, columns = 0, ...kernel] = dims;
  if (node.op === "Conv") {
    const places = elementCount(kernel);
    const outputStride = columns * places;
    return { outputs: rows, inputs: columns, places, group: node.int("group", 1), outputStride, inputStride: places };
  }
  if ((node.op !== "Gemm" && node.op !== "MatMul") || dims.length !== 2) return null;
  return isTurnedGemm(node)
    ? { outputs: rows, inputs: columns, places: 1, group: 1, outputStride: columns, inputStride: 1 }
    : { outputs: columns, inputs: rows, places: 1, group: 1, outputStride: 1, inputStride: columns };
}

/** Of one tensor, from its moments in each sample; null where it held NaN or infinities. */
export function inputMoments(samples: readonly ChannelMoments[]): InputMoments | null {
  const channels = samples[0]?.mean.length ?? 0;
  const means = new Float32Array(channels * samples.length);
  const spread = new Float32Array(channels);
  const shared = new Float32Array(channels);
  for (const [s, { mean, meanSquare, meanPair }] of samples.entries()) {
    means.set(mean, s * channels);
    for (let channel = 0; channel < channels; channel++) {
      const own = Math.max(0, meanSquare[channel]! - mean[channel]! ** 2) / samples.length;
      const next = Math.max(0, meanPair[channel]! - mean[channel]! ** 2) / samples.length;
      spread[channel]! += own;
      shared[channel]! += next;
    }
  }
  if (!spread.every(Number.isFinite)) return null;
  // Next to each other, and two apart: what is shared wanes by the same share each step.
  for (let channel = 0; channel < channels; channel++) {
    const share = spread[channel]! > 0 ? Math.min(1, shared[channel]! / spread[channel]!) : 0;
    shared[channel] = (spread[channel]! * (share + share ** 2)) / 2;
  }
  return { samples: samples.length, means, spread, shared };
}
