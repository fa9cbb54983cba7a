import { fuseConcatRows } from "../../../src/passes/layout/concat-rows.js";
import { testRewrite } from "../../support/test-rewrite.js";

const graph = (x: string, z: string, rest: string, input = "x: f32[N,3,4,8], z: f32[N,2,2,8]", outputs = "y"): string =>
  `(${input}) -> (${outputs}) { a = ${x} b = ${z} ${rest} }`;
const flat = (name: string, sizes = "0,-1"): string => `Reshape(${name}, $${name}s: i64[2] = {${sizes}})`;
const joined = (sizes: string, axis = 1): string =>
  `c = Concat<axis=${axis}>(a, b) y = Reshape(c, $o: i64[${sizes.split(",").length}] = {${sizes}})`;

testRewrite(fuseConcatRows, {
  rewrites: {
    "two maps": graph(flat("x"), flat("z"), joined("0,-1,4")),
    "a Flatten": graph("Flatten<axis=1>(x)", flat("z", "-1,32"), joined("0,-1,4", -1)),
    "maps of any size": graph(flat("x"), flat("z"), joined("0,-1,4"), "x: f32[N,H,W,8], z: f32[N,K,L,8]"),
  },
  leaves: {
    "a map that makes no whole rows": [
      graph(flat("x"), flat("z"), joined("0,-1,8"), "x: f32[N,3,4,7], z: f32[N,2,2,3]"),
      null,
    ],
    "maps of any size that may make none": [
      graph(flat("x"), flat("z"), joined("0,-1,4"), "x: f32[N,8,H,4], z: f32[N,8,4,K]"),
      null,
    ],
    "images that are joined": [
      graph(flat("x"), flat("z", "0,32"), joined("4,-1,4", 0), "x: f32[2,4,8], z: f32[2,4,8]"),
      null,
    ],
    "images that change": [graph(flat("x"), flat("z"), joined("4,-1,4"), "x: f32[2,3,4,8], z: f32[2,2,2,8]"), null],
    "a Reshape that others read": [
      graph(flat("x"), flat("z"), joined("0,-1,4"), "x: f32[N,3,4,8], z: f32[N,2,2,8]", "y, a"),
      null,
    ],
    "a Concat that others read": [
      graph(flat("x"), flat("z"), joined("0,-1,4"), "x: f32[N,3,4,8], z: f32[N,2,2,8]", "y, c"),
      null,
    ],
  },
});
