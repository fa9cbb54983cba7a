/**
 *   Relu(Conv(x, w, b))          =>  com.microsoft::FusedConv<activation="Relu">(x, w, b)
 *   LeakyRelu, Sigmoid, Tanh, HardSigmoid, HardSwish, Clip by constants: the same
 *
 * f32 only. The runtime makes most of these itself when it may optimize fully, and rearranges
 * FusedConv for wide registers as it does Conv. That it does not do to a FusedConv with a
 * residual (the fourth input): Conv, Add and Relu stay three nodes, which are faster.
 */
import { type Attribute, attr, type Node } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { clipRangeOf } from "../fuse/clip-range.js";
import { RUNTIME_DOMAIN } from "./domain.js";

export const fuseConvActivation = defineRewrite({
  name: "fuse-conv-activation",
  summary: "Fold an activation into the Conv that feeds it",
  numerics: "rounding",
  roots: ["Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Clip"],
  minOpset: 6,
  rewrite(root, { create, skip }) {
    const conv = soleProducer(root.inputs[0], "Conv") ?? soleProducer(root.inputs[0], `${RUNTIME_DOMAIN}::FusedConv`);
    if (!conv || conv.attributes.has("activation")) return null;
    const [x, w] = conv.inputs;
    if ((x?.dtype ?? w?.dtype ?? root.output.dtype) !== "f32") return skip("FusedConv computes in f32 only");
    const activation = activationOf(root);
    if (!activation) return skip("the bounds are computed at run time");
    return create("FusedConv", conv.inputs, [...conv.attributes, ...Object.entries(activation)], {
      domain: RUNTIME_DOMAIN,
      like: conv,
    });
  },
});

/** The attributes of FusedConv that stand for an activation. */
function activationOf(node: Node): Readonly<Record<string, Attribute>> | null {
  switch (node.op) {
    case "LeakyRelu":
      return named(node.op, node.float("alpha", 0.01));
    case "HardSigmoid":
      return named(node.op, node.float("alpha", 0.2), node.float("beta", 0.5));
    case "Clip": {
      const range = clipRangeOf(node);
      return range && named(node.op, finite(range.min), finite(range.max));
    }
    default:
      return named(node.op);
  }
}

const named = (name: string, ...parameters: readonly number[]): Readonly<Record<string, Attribute>> => ({
  activation: attr.string(name),
  ...(parameters.length > 0 && { activation_params: attr.floats(parameters) }),
});

/** No bound is spelled as the largest number. */
const finite = (bound: number): number => Math.min(Math.max(bound, -LARGEST), LARGEST);
const LARGEST = Math.fround(3.4028234663852886e38);
