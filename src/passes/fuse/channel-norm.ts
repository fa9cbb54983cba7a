/**
 *   (x - mean(x)) / sqrt(variance(x) + epsilon)   along channels   =>  Transpose(LayerNormalization(Transpose(x), 1))
 *
 * The layer normalization of maps in NCHW (ConvNeXt, SAM, Restormer, NAFNet), of which nothing is the last axis. ONNX Runtime's kernel
 * for ReduceMean takes 1 ns an element along such an axis: between two Convs of [1, 48, 64, 64] all of it takes 0.72 ms, and 0.28 this
 * way; of a few channels this takes longer (1.32, Zen 5, 1 thread). Integer Convs have their channels last, and the Transposes go.
 */
import { attr, type Node, type Shape, type Value } from "../../ir/index.js";
import type { RewriteContext, Skip } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { inverseOf, type Permutation, permuted } from "../layout/permutation.js";
import { filledTensor } from "./computed-tensor.js";
import type { Standardized } from "./standardized.js";

/** Below, rows are so short that starting each takes longest. */
const LEAST_CHANNELS = 16;

/** Whether it is the axis of channels alone, with places behind it, that is normalized. */
export const isAlongChannels = ({ x, axes }: Standardized): boolean =>
  x.shape != null && x.shape.length > 2 && axes.length === 1 && axes[0] === 1 - x.shape.length;

/** Of x, [N, C, ...places]. */
export function channelNorm({ x, epsilon }: Standardized, root: Node, context: RewriteContext): Node | Skip {
  const shape = x.shape!;
  const channels = shape[1];
  if (x.dtype !== "f32") return context.skip("only f32");
  if (!isKnown(channels) || channels < LEAST_CHANNELS)
    return context.skip(`fewer than ${LEAST_CHANNELS} channels, or nobody knows how many`);
  const perm = [0, ...shape.slice(2).map((_, i) => i + 2), 1];
  const turned = transpose(x, shape, perm, context).output;
  const ones = context.constant(`${root.output.label}/scale`, filledTensor("f32", [channels], 1));
  const norm = context.create("LayerNormalization", [turned, ones], {
    axis: attr.int(-1),
    epsilon: attr.float(epsilon),
  });
  return transpose(norm.output, turned.shape!, inverseOf(perm), context);
}

function transpose(x: Value, shape: Shape, perm: Permutation, { create }: RewriteContext): Node {
  const type = { dtype: x.dtype, shape: permuted(shape, perm) };
  return create("Transpose", [x], { perm: attr.ints([...perm]) }, { types: [type] });
}
