import { hoistPool } from "../../../src/passes/layout/hoist-pool.js";
import { testRewrite } from "../../support/test-rewrite.js";

const pool = "MaxPool<kernel_shape=[2,2], strides=[2,2]>";

testRewrite(hoistPool, {
  rewrites: {
    "a LeakyRelu": `(x: f32[N,3,8,8]) -> (y) { a = LeakyRelu<alpha=0.3>(x) y = ${pool}(a) }`,
    "a Sigmoid of a window over the edges":
      "(x: f32[N,3,9,9]) -> (y) { a = Sigmoid(x) y = MaxPool<kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]>(a) }",
    "a slope for each channel": `(x: f32[N,3,8,8]) -> (y) { a = PRelu(x, $s: f32[3,1,1] = {0.1, 0, 2}) y = ${pool}(a) }`,
    "an Elu before the largest of all": "(x: f32[N,3,8]) -> (y) { a = Elu(x) y = GlobalMaxPool(a) }",
    "a pool whose places nobody asks for": `(x: f32[N,3,8,8]) -> (y) { a = Selu(x) y, i = ${pool}(a) }`,
    "windows with gaps, of data alone":
      "(x: f32[N,3,9]) -> (y) { a = Tanh(x) y = MaxPool<kernel_shape=[2], strides=[2], dilations=[3]>(a) }",
    "windows that are rounded up":
      "(x: f32[N,3,7]) -> (y) { a = Tanh(x) y = MaxPool<kernel_shape=[2], strides=[2], ceil_mode=1>(a) }",
  },
  leaves: {
    "a Relu, which costs nothing in a Conv": [`(x: f32[N,3,8,8]) -> (y) { a = Relu(x) y = ${pool}(a) }`, null],
    "windows that leave as many": [
      "(x: f32[N,3,8,8]) -> (y) { a = LeakyRelu(x) y = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(a) }",
      null,
    ],
    "what falls": [`(x: f32[N,3,8,8]) -> (y) { a = LeakyRelu<alpha=-0.3>(x) y = ${pool}(a) }`, null],
    "a slope below zero": [
      `(x: f32[N,3,8,8]) -> (y) { a = PRelu(x, $s: f32[3,1,1] = {0.1, -0.1, 2}) y = ${pool}(a) }`,
      null,
    ],
    "a slope for each place": [
      `(x: f32[N,1,2,2]) -> (y) { a = PRelu(x, $s: f32[2,2] = {1, 2, 3, 4}) y = ${pool}(a) }`,
      null,
    ],
    "windows with gaps, which may lie in the padding alone": [
      "(x: f32[N,3,2]) -> (y) { a = Sigmoid(x) y = MaxPool<kernel_shape=[2], strides=[2], dilations=[3], pads=[1,1]>(a) }",
      null,
    ],
    "what runs elsewhere": [
      `(x: f32[N,3,8,8]) -> (y) { a = LeakyRelu(x) y = ${pool}(a) }`,
      "NVIDIA TensorRT 11: it may compute an activation for nothing in the Conv in front",
      { target: "tensorrt" },
    ],
    "an activation that others read": [
      `(x: f32[N,3,8,8]) -> (y, z) { a = LeakyRelu(x) y = ${pool}(a) z = Neg(a) }`,
      null,
    ],
    "a pool that tells places": [
      "(x: f32[N,3,8,8]) -> (y, i) { a = LeakyRelu(x) y, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(a) }",
      null,
    ],
  },
});
