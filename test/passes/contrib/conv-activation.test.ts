import { fuseConvActivation } from "../../../src/passes/contrib/conv-activation.js";
import { testRewrite } from "../../support/test-rewrite.js";

const conv = (rest: string, attributes = ""): string => `(x: f32[N,2,5,5]) -> (y) {
  c = Conv${attributes}(x, $w: f32[3,2,3,3], $b: f32[3])
  ${rest}
}`;

testRewrite(fuseConvActivation, {
  rewrites: {
    "a FusedConv with a residual": `(x: f32[N,2,9]) -> (y) {
      c = com.microsoft::FusedConv(x, $w: f32[2,2,1], _, x)
      y = Relu(c)
    }`,
    "Conv and Relu": conv("y = Relu(c)"),
    "with every attribute of the Conv": conv("y = Relu(c)", "<pads=[1,1,1,1], strides=[2,2], dilations=[1,1]>"),
    "a Conv that pads by itself": conv("y = Tanh(c)", '<auto_pad="SAME_UPPER">'),
    "Conv and Sigmoid": conv("y = Sigmoid(c)"),
    "Conv and LeakyRelu": conv("y = LeakyRelu<alpha=0.25>(c)"),
    "Conv and LeakyRelu with the slope it has by default": conv("y = LeakyRelu(c)"),
    "Conv and HardSigmoid": conv("y = HardSigmoid<alpha=0.1666667, beta=0.25>(c)"),
    "Conv and HardSigmoid as it is by default": conv("y = HardSigmoid(c)"),
    "Conv and HardSwish": conv("y = HardSwish(c)"),
    "Conv and Clip": conv("y = Clip(c, $low: f32[] = {-0.5}, $high: f32[] = {0.5})"),
    "Conv and Clip without an upper bound": conv("y = Clip(c, $low: f32[] = {-0.5})"),
    "Conv and Clip of opset 6": [conv("y = Clip<min=-0.5, max=0.5>(c)"), { opset: 10 }],
    "a Conv without bias": `(x: f32[N,2,5,5]) -> (y) {
      c = Conv(x, $w: f32[3,2,3,3])
      y = Relu(c)
    }`,
    "a Conv in groups, along one axis": `(x: f32[N,2,9]) -> (y) {
      c = Conv<group=2>(x, $w: f32[4,1,3])
      y = Relu(c)
    }`,
    "a Conv in three dimensions with a weight that is computed": `(x: f32[N,2,4,4,4], w: f32[3,2,2,2,2]) -> (y) {
      c = Conv(x, w)
      y = Relu(c)
    }`,
  },
  leaves: {
    "a FusedConv with an activation": [
      `(x: f32[N,2,9]) -> (y) {
        c = com.microsoft::FusedConv<activation="Relu">(x, $w: f32[4,2,3])
        y = Relu(c)
      }`,
      null,
    ],
    "a Conv that others read": [conv("y = Relu(c)\n  z = Tanh(c)").replace("-> (y)", "-> (y, z)"), null],
    "a Conv that is an output": [conv("y = Relu(c)").replace("-> (y)", "-> (y, c)"), null],
    "another producer": [`(x: f32[N,2,5,5]) -> (y) {\n  m = MaxPool<kernel_shape=[2,2]>(x)\n  y = Relu(m)\n}`, null],
    "an activation that FusedConv does not know": [conv("y = Elu(c)"), null],
    "bounds that are computed": [
      `(x: f32[N,2,5,5], low: f32[]) -> (y) {
        c = Conv(x, $w: f32[3,2,3,3])
        y = Clip(c, low)
      }`,
      "the bounds are computed at run time",
    ],
    "float16, which the kernel does not know": [
      `(x: f16[N,2,5,5]) -> (y) {
        c = Conv(x, $w: f16[3,2,3,3])
        y = Relu(c)
      }`,
      "FusedConv computes in f32 only",
    ],
  },
});
