import { fuseMatMulFactors } from "../../../src/passes/linear/matmul-factors.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (lines: string, type = "f32"): string => `(a: ${type}[N,3,4], b: ${type}[4,2]) -> (y) {\n${lines}\n}`;
const number = (name: string, value: number, shape = "") => `$${name}: f32[${shape}] = {${value.toFixed(3)}}`;

testRewrite(fuseMatMulFactors, {
  rewrites: {
    "two products": graph(`p = Mul(a, ${number("c", 0.3)}) q = Mul(b, ${number("d", 0.25, "1")}) y = MatMul(p, q)`),
    "two quotients": graph(`p = Div(a, ${number("c", 3)}) q = Div(b, ${number("d", 4)}) y = MatMul(p, q)`),
    "a quotient and a Neg": graph(`p = Div(a, ${number("c", 3)}) q = Neg(b) y = MatMul(p, q)`),
    "the product of the smaller operand": `(a: f32[5,4], b: f32[4,2]) -> (y) {
      p = Mul(a, ${number("c", 0.3)}) q = Mul(b, ${number("d", 0.5)}) y = MatMul(p, q) }`,
  },
  leaves: {
    "one product": [graph(`p = Mul(a, ${number("c", 0.3)}) y = MatMul(p, b)`), null],
    "a product that somebody else reads": [
      `(a: f32[N,3,4], b: f32[4,2]) -> (y, p) {
        p = Mul(a, ${number("c", 0.3)}) q = Mul(b, ${number("d", 0.25)}) y = MatMul(p, q) }`,
      null,
    ],
    "a factor by which a value could leave its range": [
      graph(`p = Mul(a, ${number("c", 3e20)}) q = Mul(b, ${number("d", 0.25)}) y = MatMul(p, q)`),
      null,
    ],
    "a zero": [graph(`p = Mul(a, ${number("c", 0)}) q = Mul(b, ${number("d", 0.25)}) y = MatMul(p, q)`), null],
    "a quotient of a number": [
      graph(`p = Div(${number("c", 3)}, a) q = Mul(b, ${number("d", 0.25)}) y = MatMul(p, q)`),
      null,
    ],
    "factors per column": [
      graph(`p = Mul(a, ${number("c", 0.3)}) q = Mul(b, $d: f32[2] = {1.5, 2.5}) y = MatMul(p, q)`),
      null,
    ],
    "a number that raises the rank": [
      graph(`p = Mul(a, ${number("c", 0.3)}) q = Mul(b, ${number("d", 0.25, "1,1,1")}) y = MatMul(p, q)`),
      null,
    ],
    "half precision, which has little room": [
      graph("p = Mul(a, $c: f16[] = {0.5}) q = Mul(b, $d: f16[] = {0.25}) y = MatMul(p, q)", "f16"),
      null,
    ],
  },
});
