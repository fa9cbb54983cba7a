/**
 *   BatchNormalization(x: [N,C,H,W])  =>  Conv<group=C>(x, W: [C,1,1,1], b)     in front of a Conv or a pool
 *   Add(Mul(x, s: [C,1,1]), t)        =>  the same
 *   Add(x, t: [C,1,1])                =>  the same
 *
 * What is left where nothing in front could take it in: networks that normalize before they convolve (DenseNet, ResNetV2), or around
 * their residuals. ONNX Runtime makes a Conv of a BatchNormalization by itself, and not of a product and a sum: DenseNet-121 as
 * tf2onnx writes it, 96x96, 1.19x as fast (1.32, Zen 5, 1 thread); of a sum neither, which is what is left where the Conv behind an
 * activation takes the factor in: as Keras exports it by PyTorch 1.14x (Zen 3). As static integers a Conv has a kernel, and what stands around it
 * needs no float: 1.95x as fast without, 2.6x with it.
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { isPointwise } from "../../ops/facts.js";
import { defineRewrite } from "../../rewrite/index.js";
import { broadcastsTo, hasRank, isKnown, soleProducer, splitConstant } from "../../rewrite/match.js";
import { isQuickDepthwise } from "../../target/channel-block.js";
import { affineOfArithmetic, affineOfBatchNorm, type ChannelAffine } from "./channel-affine.js";
import { tensorLike } from "./computed-tensor.js";

export const fuseChannelConv = defineRewrite({
  name: "fuse-channel-conv",
  summary: "Scale and shift channels in front of a Conv by a depthwise Conv",
  numerics: "rounding",
  roots: ["BatchNormalization", "Add", "Sub"],
  minOpset: 7,
  onlyOnCpu: "its kernels for channels side by side are those of Conv",
  rewrite(root, { create, constant, skip, opset }) {
    const norm = root.is("BatchNormalization") ? root : null;
    const product = norm ? null : productBefore(root);
    const found = norm ? norm.inputs[0] : splitConstant(product ?? root)?.other;
    const channels = found?.shape?.[1];
    if (found?.dtype !== "f32" || !hasRank(found, 4) || !isKnown(channels)) return null;
    if (!isQuickDepthwise(channels) || !isConvolved(root.output)) return null;
    const affine = norm ? affineOfBatchNorm(norm, opset, channels) : affineOf(root, product, channels);
    if (affine === null) return null;
    if (typeof affine === "string") return skip(affine);
    const weight = tensorLike("f32", [channels, 1, 1, 1], affine.scale!);
    const bias = tensorLike("f32", [channels], affine.shift!);
    if (!weight || !bias) return skip("folded weights leave the range of f32");
    const { label } = root.output;
    const inputs = [found, constant(`${label}/weight`, weight), constant(`${label}/bias`, bias)];
    const attributes = { group: attr.int(channels), kernel_shape: attr.ints([1, 1]) };
    return create("Conv", inputs, attributes, { types: [root.output.type] });
  },
});

/** x * s of x * s + t. */
function productBefore(sum: Node): Node | null {
  const product = soleProducer(splitConstant(sum)?.other, "Mul");
  const operands = product && splitConstant(product);
  return operands && broadcastsTo(operands.constant, operands.other) ? product : null;
}

/** Of a sum, with a product of what both are per channel; null where one of them is not. */
function affineOf(sum: Node, product: Node | null, channels: number): ChannelAffine | null {
  const { constant, other } = splitConstant(sum)!;
  if (!broadcastsTo(constant, other)) return null;
  const layout = { weightTensor: constant.constant!, channels, channelAxis: -3, outputRank: 4 };
  const shifted = affineOfArithmetic(sum, layout);
  if (!shifted || typeof shifted === "string") return null;
  // One number for all is part of an activation.
  if (!product && constant.constant!.elementCount === 1) return null;
  const scaled = product ? affineOfArithmetic(product, layout) : { scale: new Float64Array(channels).fill(1) };
  if (!scaled || typeof scaled === "string") return null;
  // Of a difference that the product is taken from, both signs change.
  const sign = shifted.scale ? -1 : 1;
  return { scale: scaled.scale!.map((each) => sign * each), shift: shifted.shift };
}

const convolved = new Set(["Conv", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "MaxPool"]);

/** Whether a Conv or a pool reads a value, perhaps through an activation. */
const isConvolved = (value: Value, mayActivate = true): boolean =>
  value.uses.some(
    (use) =>
      use.kind === "input" &&
      use.index === 0 &&
      ((use.node.domain === "" && convolved.has(use.node.op)) ||
        (mayActivate && isPointwise(use.node) && isConvolved(use.node.output, false))),
  );
