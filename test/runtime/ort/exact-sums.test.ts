/** The largest sums of products of 8 bits that there are: x86 without VNNI saturates them unless the session says otherwise. */
import { expect, it } from "vitest";
import { Tensor } from "../../../src/ir/index.js";
import { modelFile } from "../../support/model-file.js";
import { session, startRuntime, temporaryFolder } from "./workbench.js";

const CHANNELS = 64;
const SUM = CHANNELS * 127 * 255;

const weights = (name: string, dims: readonly number[]): string => {
  const values = new Array(dims.reduce((product, dim) => product * dim, 1)).fill(127);
  return `$${name}: i8[${dims.join(",")}] = {${values.join(", ")}}`;
};

/** A product of pairs whose scales are 1, so that integers are what they stand for. */
const pairs = (x: string, product: string, kernel: readonly number[], rounded: boolean, dtype = "u8"): string =>
  `(x: f32[${x}]) -> (y) {
    q = QuantizeLinear(x, $s: f32[] = {1}, $z: ${dtype}[] = {0})
    d = DequantizeLinear(q, $s, $z)
    w = DequantizeLinear(${weights("k", kernel)}, $t: f32[] = {1}, $o: i8[] = {0})
    ${rounded ? `p = ${product}(d, w)\n r = QuantizeLinear(p, $a: f32[] = {${SUM / 255}}, $b: u8[] = {0})\n y = DequantizeLinear(r, $a, $b)` : `y = ${product}(d, w)`}
  }`;

const square = [CHANNELS, CHANNELS];
const row = `1,${CHANNELS}`;

it.each([
  ["a Conv", pairs(`${row},4,4`, "Conv", [...square, 1, 1], true), 255],
  ["a Conv of signed activations", pairs(`${row},4,4`, "Conv", [...square, 1, 1], true, "i8"), 127],
  ["a MatMul", pairs(row, "MatMul", square, true), 255],
  ["a MatMul with a float result", pairs(row, "MatMul", square, false), 255],
  ["a Gemm", pairs(row, "Gemm", square, true), 255],
  [
    "a product with ranges of its own",
    `(x: f32[${row}]) -> (y) {
      q, s, z = DynamicQuantizeLinear(x)
      p = MatMulInteger(q, ${weights("k", square)}, z)
      c = Cast<to=1>(p)
      m = Mul(s, $t: f32[] = {1})
      y = Mul(c, m)
    }`,
    255,
  ],
] as const)("%s", async (_, text, largest) => {
  const dims = text.startsWith(`(x: f32[${row},4,4]`) ? [1, CHANNELS, 4, 4] : [1, CHANNELS];
  const x = Tensor.f32(dims, new Array(dims.reduce((product, dim) => product * dim, 1)).fill(largest));
  const model = modelFile(temporaryFolder(), text);
  const answer = await startRuntime().run(model, new Map([["x", x]]), { ...session, isExact: true });
  // Within the last step of what rounds the sum.
  expect(Math.abs(answer.get("y")!.f32()[0]! - (SUM * largest) / 255)).toBeLessThanOrEqual(SUM / 255);
});
