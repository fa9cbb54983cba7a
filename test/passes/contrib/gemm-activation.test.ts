import { fuseGemmActivation } from "../../../src/passes/contrib/gemm-activation.js";
import { testRewrite } from "../../support/test-rewrite.js";

const gemm = (rest: string): string => `(x: f32[N,4]) -> (y) {
  g = Gemm(x, $w: f32[4,3], $c: f32[3])
  ${rest}
}`;

testRewrite(fuseGemmActivation, {
  rewrites: {
    "Gemm and Relu": gemm("y = Relu(g)"),
    "Gemm and Tanh": gemm("y = Tanh(g)"),
    "Gemm and Sigmoid": gemm("y = Sigmoid(g)"),
    "Gemm and Softplus": gemm("y = Softplus(g)"),
    "Gemm and Softsign": gemm("y = Softsign(g)"),
    "Gemm and LeakyRelu": gemm("y = LeakyRelu<alpha=0.25>(g)"),
    "Gemm and LeakyRelu as it is by default": gemm("y = LeakyRelu(g)"),
    "Gemm and Elu": gemm("y = Elu<alpha=0.5>(g)"),
    "Gemm and Elu as it is by default": gemm("y = Elu(g)"),
    "Gemm and Celu": gemm("y = Celu<alpha=0.5>(g)"),
    "Gemm and Selu as it is by default": gemm("y = Selu(g)"),
    "Gemm and Selu": gemm("y = Selu<alpha=1.5, gamma=0.75>(g)"),
    "Gemm and HardSigmoid": gemm("y = HardSigmoid<alpha=0.25, beta=0.375>(g)"),
    "Gemm and HardSigmoid as it is by default": gemm("y = HardSigmoid(g)"),
    "Gemm and ThresholdedRelu": gemm("y = ThresholdedRelu<alpha=0.25>(g)"),
    "a Gemm with attributes, without addend": `(x: f32[4,2]) -> (y) {
      g = Gemm<alpha=0.5, transA=1, transB=1>(x, $w: f32[3,4])
      y = Relu(g)
    }`,
    "a Gemm with a weight and an addend that are computed": `(x: f32[2,4], w: f32[4,3], c: f32[2,3]) -> (y) {
      g = Gemm<beta=0.5>(x, w, c)
      y = Relu(g)
    }`,
  },
  leaves: {
    "a Gemm that others read": [gemm("y = Relu(g)\n  z = Tanh(g)").replace("-> (y)", "-> (y, z)"), null],
    "a Gemm that is an output": [gemm("y = Relu(g)").replace("-> (y)", "-> (y, g)"), null],
    "an activation that FusedGemm does not know": [gemm("y = HardSwish(g)"), null],
    "another producer": ["(x: f32[2,4]) -> (y) { m = MatMul(x, $w: f32[4,3])\n y = Relu(m) }", null],
    float64: ["(x: f64[2,4], w: f64[4,3]) -> (y) { g = Gemm(x, w)\n y = Relu(g) }", "FusedGemm computes in f32 only"],
  },
});
