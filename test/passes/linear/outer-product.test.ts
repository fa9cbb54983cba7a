import { fuseOuterProduct } from "../../../src/passes/linear/outer-product.js";
import { testRewrite } from "../../support/test-rewrite.js";

const COLUMN = "$f: f32[1,3,1] = {1.0, 0.5, 0.25}";
const graph = (lines: string, input = "p: i64[N,S]"): string => `(${input}) -> (y) {\n${lines}\n}`;
const AXIS = (axis: string): string => `$a: i64[${axis.split(",").length}] = {${axis}}`;
const ROW = `u = Unsqueeze(p, ${AXIS("1")}) c = Cast<to=1>(u)`;
const TURN = "y = Transpose<perm=[0,2,1]>(m)";

testRewrite(fuseOuterProduct, {
  rewrites: {
    "frequencies times positions": graph(`${ROW} m = MatMul(${COLUMN}, c) ${TURN}`),
    "positions of all heads": graph(
      `u = Unsqueeze(p, ${AXIS("-2,0")}) c = Cast<to=1>(u) m = MatMul($f: f32[3,1] = {1.0, 0.5, 0.25}, c)
       y = Transpose<perm=[0,1,3,2]>(m)`,
    ),
    "floats, of one dimension": graph(
      `u = Unsqueeze(p, ${AXIS("0")}) m = MatMul($f: f32[3,1] = {1.0, 0.5, 0.25}, u) y = Transpose(m)`,
      "p: f32[S]",
    ),
  },
  leaves: {
    "two columns": [
      graph(`m = MatMul($f: f32[1,3,2] = {1.0, 0.5, 0.25, 4.0, 5.0, 6.0}, p) ${TURN}`, "p: f32[N,2,S]"),
      null,
    ],
    "a column that is no constant": [graph(`${ROW} m = MatMul(f, c) ${TURN}`, "p: i64[N,S], f: f32[1,3,1]"), null],
    "a row that nobody made a row": [graph(`m = MatMul(${COLUMN}, p) ${TURN}`, "p: f32[N,1,S]"), null],
    "a row that somebody else reads": [`(p: i64[N,S]) -> (y, u) { ${ROW} m = MatMul(${COLUMN}, c) ${TURN} }`, null],
    "another order": [graph(`${ROW} m = MatMul(${COLUMN}, c) y = Transpose<perm=[1,0,2]>(m)`), null],
    "a product that somebody else reads": [`(p: i64[N,S]) -> (y, m) { ${ROW} m = MatMul(${COLUMN}, c) ${TURN} }`, null],
  },
});
