import { splitFourierMatMul } from "../../../../src/passes/linear/fourier/split-fourier-matmul.js";
import { testRewrite } from "../../../support/test-rewrite.js";

const LENGTH = 256;

const wave = (of: "cos" | "sin", bins: number, scale = 1, by: (n: number) => number = () => 1): number[] =>
  Array.from({ length: bins * LENGTH }, (_, at) => {
    const [bin, n] = [Math.floor(at / LENGTH), at % LENGTH];
    return Math.fround(scale * by(n) * Math[of]((2 * Math.PI * bin * n) / LENGTH));
  });
const product = (rows: number[], shape = `${LENGTH},50`, dims = `2,${rows.length / 2 / LENGTH},${LENGTH}`): string =>
  `(x: f32[${shape}]) -> (y) { y = MatMul($w: f32[${dims}] = {${rows.join()}}, x) }`;
const [cos, sin, forwards] = [wave("cos", 129), wave("sin", 129), wave("sin", 129, -1)];
const slope = (n: number): number => 1 + n / 1000;

testRewrite(splitFourierMatMul, {
  rewrites: {
    "a transform forwards": product([...cos, ...forwards]),
    "imaginary parts of the other sign": product([...cos, ...sin]),
    "a factor for all": product([...wave("cos", 129, 0.25), ...wave("sin", 129, 0.25)]),
    "frames of which nobody knows how many there are": product([...cos, ...sin], `${LENGTH},N`),
    "fewer bins": product([...wave("cos", 100), ...wave("sin", 100)]),
  },
  leaves: {
    "a window": [product([...wave("cos", 129, 1, slope), ...wave("sin", 129, 1, slope)]), null],
    "factors that differ": [product([...cos, ...wave("sin", 129, 0.5)]), null],
    "imaginary parts first": [product([...sin, ...cos]), null],
    "few frames": [product([...cos, ...forwards], `${LENGTH},2`), null],
    "a stack of frames": [product([...cos, ...forwards], `2,${LENGTH},50`), null],
    "weights that are anything": [`(x: f32[${LENGTH},50]) -> (y) { y = MatMul($w: f32[2,129,${LENGTH}], x) }`, null],
    "weights on the right": [`(x: f32[2,129,50]) -> (y) { y = MatMul(x, $w: f32[50,${LENGTH}]) }`, null],
    "what runs elsewhere": [
      product([...cos, ...forwards]),
      "NVIDIA TensorRT 11: its kernel for MatMul takes as long as it has weights",
      { target: "tensorrt" },
    ],
  },
});
