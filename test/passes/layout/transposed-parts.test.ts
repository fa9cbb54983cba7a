import { fuseTransposedParts } from "../../../src/passes/layout/transposed-parts.js";
import { testRewrite } from "../../support/test-rewrite.js";

const sizes = (label: string, values: string): string => `$${label}: i64[${values.split(",").length}] = {${values}}`;
const graph = (first: string, perm: string, last: string, input = "f32[N,12,4,5]"): string => `(x: ${input}) -> (y) {
  a = Reshape(x, ${sizes("s", first)})
  t = Transpose<perm=[${perm}]>(a)
  y = Reshape(t, ${sizes("o", last)})
}`;

testRewrite(fuseTransposedParts, {
  rewrites: {
    "the channels of a detector's head": graph("0,3,4,4,5", "0,3,4,1,2", "0,-1,4"),
    "parts in front of others": graph("0,3,4,20", "0,1,2,3", "0,-1,5"),
    "rows and columns that stay together": graph("0,12,2,2,5", "0,2,3,4,1", "0,-1,3"),
    "a size that is copied from behind the parts": graph("0,3,4,4,5", "0,1,2,4,3", "0,-1,1,0"),
    "an axis of one element": `(x: f32[20,1,B,4]) -> (y) {
      t = Transpose<perm=[0,2,1,3]>(x)
      y = Reshape(t, ${sizes("o", "20,-1,4")})
    }`,
    "an axis of one element, with sizes that are copied": `(x: f32[T,1,3,4]) -> (y) {
      t = Transpose<perm=[0,2,1,3]>(x)
      y = Reshape(t, ${sizes("o", "0,0,2,-1")})
    }`,
  },
  leaves: {
    "parts that are exchanged": [graph("0,3,4,4,5", "0,3,4,2,1", "0,-1,3"), null],
    "parts that are torn apart": [graph("0,3,4,4,5", "0,1,3,4,2", "0,-1,4"), null],
    "a batch that is not known in its new place": [
      `(x: f32[N,12,M]) -> (y) {
        a = Reshape(x, ${sizes("s", "0,3,4,-1")})
        t = Transpose<perm=[1,2,0,3]>(a)
        y = Reshape(t, ${sizes("o", "2,6,0,-1")})
      }`,
      null,
    ],
    "a Reshape that others read": [
      `(x: f32[N,12,4,5]) -> (y, a) {
        a = Reshape(x, ${sizes("s", "0,3,4,4,5")})
        t = Transpose<perm=[0,3,4,1,2]>(a)
        y = Reshape(t, ${sizes("o", "0,-1,4")})
      }`,
      null,
    ],
    "a Transpose that others read": [
      `(x: f32[N,12,4,5]) -> (y, t) {
        a = Reshape(x, ${sizes("s", "0,3,4,4,5")})
        t = Transpose<perm=[0,3,4,1,2]>(a)
        y = Reshape(t, ${sizes("o", "0,-1,4")})
      }`,
      null,
    ],
    "axes that the first Reshape also merges": [graph("0,3,20,4", "0,2,3,1", "0,-1,3", "f32[N,12,4,5]"), null],
    "an axis that may be of several elements": [
      `(x: f32[3,M,5,4]) -> (y) {
        t = Transpose<perm=[0,2,1,3]>(x)
        y = Reshape(t, ${sizes("o", "15,-1")})
      }`,
      null,
    ],
    "a shape of the run": [
      `(x: f32[2,12,4], o: i64[3]) -> (y) {
        a = Reshape(x, ${sizes("s", "2,3,4,4")})
        t = Transpose<perm=[0,3,1,2]>(a)
        y = Reshape(t, o)
      }`,
      null,
    ],
  },
});
