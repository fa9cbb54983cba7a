/**
 *   x -> Reshape [0, G, -1] -> InstanceNormalization -> Reshape to the shape of x
 *   =>  GroupNormalization(x, num_groups = G)
 *
 * as exporters write it before opset 21. A factor and an addend per channel go into it by
 * normalization-affine.ts. Only for targets that have a kernel: ONNX Runtime's CPU provider
 * has none and writes the operator out again into some twenty nodes.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, soleProducer } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { PartialShape, SizeFacts } from "../fold/size-rules.js";

export const fuseGroupNorm = defineRewrite({
  name: "fuse-group-norm",
  summary: "Turn an instance normalization of groups of channels into GroupNormalization",
  numerics: "rounding",
  roots: ["Reshape"],
  minOpset: 21,
  notOnCpu: "its CPU provider has no kernel for GroupNormalization and writes it out into some twenty nodes",
  rewrite(root, { create, constant, shared, skip }) {
    const norm = soleProducer(root.inputs[0], "InstanceNormalization");
    const split = soleProducer(norm?.inputs[0], "Reshape");
    const x = split?.inputs[0];
    if (!norm || !split || !x || x.dtype !== "f32") return null;
    const facts = shared(sizeFacts);
    const shape = facts.shapeOf(x);
    const channels = shape?.[1];
    const [scale, bias] = [numbersOf(norm.inputs[1]), numbersOf(norm.inputs[2])];
    if (!shape || shape.length < 3 || !scale || !bias || !isSame(shape, facts.shapeOf(root.output))) return null;
    const groups = scale.length;
    if (groups === 0 || bias.length !== groups || !keepsSamples(split, shape, groups, facts)) return null;
    if (typeof channels !== "number") return skip("the number of channels is not known");
    if (channels % groups !== 0) return skip(`${channels} channels do not make ${groups} groups of one size`);
    const perChannel = (name: string, perGroup: Float32Array): Value =>
      constant(
        `${root.output.label}/${name}`,
        Tensor.f32(
          [channels],
          Float32Array.from({ length: channels }, (_, i) => perGroup[Math.floor((i * groups) / channels)]!),
        ),
      );
    return create("GroupNormalization", [x, perChannel("scale", scale), perChannel("bias", bias)], {
      num_groups: attr.int(groups),
      epsilon: attr.float(norm.float("epsilon", 1e-5)),
    });
  },
});

const numbersOf = (value: Value | null | undefined): Float32Array | null =>
  (value?.shape?.length === 1 && value.constant?.toF32()) || null;

const isSame = (a: PartialShape, b: PartialShape | null): boolean =>
  a.length === b?.length && a.every((size, axis) => areSame(size, b[axis]));

/** Whether a Reshape leaves the first axis alone and makes the second one of groups: what follows then are their members. */
function keepsSamples(split: Node, shape: PartialShape, groups: number, facts: SizeFacts): boolean {
  const made = facts.shapeOf(split.output);
  if (made && areSame(made[0], shape[0]) && made[1] === groups) return true;
  const target = constantIntegers(split.inputs[1]);
  return target?.[0] === 0 && target[1] === groups && split.int("allowzero", 0) === 0;
}
