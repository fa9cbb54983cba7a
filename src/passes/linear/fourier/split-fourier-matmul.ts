/**
 *   MatMul(cosines and sines: [2,bins,n], x: [n,frames])  =>  a DFT of the first axis, in two steps
 *
 * So writes tf2onnx the RFFT of TensorFlow.
 */
import { attr, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite } from "../../../rewrite/index.js";
import { hasRank, isKnown } from "../../../rewrite/match.js";
import { dftByFactors } from "./dft-by-factors.js";
import { sizeOf, type Transform } from "./transform.js";
import { fasterFactors } from "./transform-cost.js";
import { isEvenWindow, trigonometricRows } from "./trigonometric-rows.js";

/** Shorter ones are few products. */
const LEAST_LENGTH = 32;

export const splitFourierMatMul = defineRewrite({
  name: "split-fourier-matmul",
  summary: "Compute a MatMul with the cosines and sines of a spectrum in two steps",
  numerics: "rounding",
  roots: ["MatMul"],
  // Of Unsqueeze with an input.
  minOpset: 13,
  onlyOnCpu: "its kernel for MatMul takes as long as it has weights",
  rewrite(product, context) {
    const [weight, x] = product.inputs;
    const tensor = weight?.constant;
    const [parts, bins, length] = tensor?.dims ?? [];
    if (!tensor || !x || !hasRank(x, 2) || x.dtype !== "f32" || parts !== 2 || !bins || !length) return null;
    const frames = x.shape![1]!;
    if (length < LEAST_LENGTH || x.shape![0] !== length || frames === 0) return null;
    const forwards = {
      length,
      inverse: false,
      from: { parts: 1, places: length },
      to: { parts: 2, places: bins },
    } as const;
    // Where nobody knows how many there are, there are many.
    const rows = isKnown(frames) ? frames : Number.POSITIVE_INFINITY;
    const factors = fasterFactors(forwards, rows, () => true, sizeOf(forwards.from) + sizeOf(forwards.to));
    const data = factors && tensor.toF32();
    const half = bins * length;
    const waves = data && trigonometricRows(data.subarray(0, half), data.subarray(half), length);
    if (!factors || !waves || !isEvenWindow(waves)) return null;
    // Backwards imaginary parts have the other sign, and all are divided by the length.
    const transform: Transform = waves.sign === 1 ? forwards : { ...forwards, inverse: true };
    const scale = waves.window[0]! * (waves.sign === 1 ? 1 : length);
    const axes = context.constant(`${x.label}/axes`, Tensor.i64([1], [2]));
    const types = [{ dtype: x.dtype, shape: [length, frames, 1] }];
    const signal: Value = context.create("Unsqueeze", [x, axes], {}, { types }).output;
    const spectrum = dftByFactors({ x: signal, along: 0, transform, scale }, factors, context);
    return spectrum && context.create("Transpose", [spectrum], { perm: attr.ints([2, 0, 1]) });
  },
});
