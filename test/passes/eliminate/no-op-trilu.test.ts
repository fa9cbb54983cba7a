import { eliminateNoOpTrilu } from "../../../src/passes/eliminate/no-op-trilu.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (line: string, input = "x: f32[N,3,4]"): string =>
  `(${input}) -> (y) { a = Neg(x) b = ${line} y = Abs(b) }`;
const K = (k: number): string => `$k: i64[] = {${k}}`;

testRewrite(eliminateNoOpTrilu, {
  rewrites: {
    "all above": graph(`Trilu(a, ${K(-2)})`),
    "all below": graph(`Trilu<upper=0>(a, ${K(3)})`),
    "one row": graph("Trilu(a)", "x: f32[1,N]"),
    "one column": graph("Trilu<upper=0>(a)", "x: f32[N,1]"),
  },
  leaves: {
    "all but one above": [graph(`Trilu(a, ${K(-1)})`), null],
    "all but one below": [graph(`Trilu<upper=0>(a, ${K(2)})`), null],
    "rows of unknown number": [graph("Trilu(a)", "x: f32[N,1]"), null],
    "a matrix of unknown rank": ["(x: f32[N,N], s: i64[R]) -> (y) { a = Reshape(x, s) b = Trilu(a) y = Abs(b) }", null],
    "a diagonal that the caller chooses": [
      "(x: f32[1,1], k: i64[]) -> (y) { a = Neg(x) b = Trilu(a, k) y = Abs(b) }",
      null,
    ],
  },
});
