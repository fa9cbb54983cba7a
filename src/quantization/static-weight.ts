/** The weights of a product as static integers have them, each rounded by itself: no range has a part in it. */
import type { Model, Node } from "../ir/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { channelAxis } from "./gemm.js";
import type { KeptIntegers } from "./kept-integers.js";
import { addsPairs } from "./pair-sums.js";
import { type PlacementOptions, planStatic } from "./plan-static.js";
import { becomesConv } from "./sub-pixel-conv.js";
import { type QuantizedWeight, quantizeWeight, weightScales } from "./weights.js";

export interface StaticWeight extends QuantizedWeight {
  /** Of output channels. */
  readonly axis: 0 | 1;
  /** Whether sums of two products must fit 16 bits (pair-sums.ts). */
  readonly pairs: boolean;
  /** As they are in float; read from the file once. */
  readonly floats: () => Float32Array;
  /** The same with other scales. */
  readonly quantize: (scales: Float32Array) => QuantizedWeight;
}

/** Of a Conv, ConvTranspose, MatMul or Gemm whose second input is constant. */
export function staticWeight(
  node: Node,
  { weightLimit: limit, saturatesPairs }: IntegerTarget,
  kept: KeptIntegers,
): StaticWeight {
  const tensor = node.inputs[1]!.constant!;
  const { dims } = tensor;
  const axis = channelAxis(node);
  const pairs = saturatesPairs && addsPairs(node, dims);
  let values: Float32Array | null = null;
  const floats = (): Float32Array => (values ??= tensor.f32());
  const quantize = (scales: Float32Array): QuantizedWeight =>
    quantizeWeight(floats(), dims, axis, scales, limit, pairs);
  const form = `axis ${axis}${pairs ? " in pairs" : ""} within ${limit}`;
  const plain = kept.of(tensor, form, () => quantize(weightScales(floats(), dims, axis, limit, pairs)));
  return { ...plain, axis, pairs, floats, quantize };
}

/** Makes those of a placement ahead of the models that have them: while there is nothing else to do. */
export function keepStaticWeights(
  model: Model,
  target: IntegerTarget,
  placement: PlacementOptions,
  kept: KeptIntegers,
): void {
  for (const { node, kernel } of planStatic(model, target, placement).nodes) {
    if (kernel.kind !== "compute" || becomesConv(node, target)) continue;
    if (node.inputs[1]?.constant) staticWeight(node, target, kept);
  }
}
