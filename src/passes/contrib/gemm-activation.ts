/**
 *   Relu(Gemm(a, b, c))  =>  com.microsoft::FusedGemm<activation="Relu">(a, b, c)
 *
 * and the same for the other activations that the kernel knows. f32 only.
 */
import { type Attribute, attr } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { RUNTIME_DOMAIN } from "./domain.js";

/** Activations of FusedGemm with their parameters, as they are where the node does not say. */
export const gemmActivations: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Celu: { alpha: 1 },
  Elu: { alpha: 1 },
  HardSigmoid: { alpha: 0.2, beta: 0.5 },
  LeakyRelu: { alpha: 0.01 },
  Relu: {},
  Selu: { alpha: 1.6732631921768188, gamma: 1.0507010221481323 },
  Sigmoid: {},
  Softplus: {},
  Softsign: {},
  Tanh: {},
  ThresholdedRelu: { alpha: 1 },
};

export const fuseGemmActivation = defineRewrite({
  name: "fuse-gemm-activation",
  summary: "Fold an activation into the Gemm that feeds it",
  numerics: "rounding",
  roots: Object.keys(gemmActivations),
  minOpset: 7,
  rewrite(root, { create, skip }) {
    const gemm = soleProducer(root.inputs[0], "Gemm");
    if (!gemm) return null;
    if ((gemm.inputs[0]?.dtype ?? root.output.dtype) !== "f32") return skip("FusedGemm computes in f32 only");
    const parameters = Object.entries(gemmActivations[root.op]!).map(([name, absent]): [string, Attribute] => [
      `activation_${name}`,
      attr.float(root.float(name, absent)),
    ]);
    return create("FusedGemm", gemm.inputs, [...gemm.attributes, ["activation", attr.string(root.op)], ...parameters], {
      domain: RUNTIME_DOMAIN,
      like: gemm,
    });
  },
});
