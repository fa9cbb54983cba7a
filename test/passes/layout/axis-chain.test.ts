import { fuseAxisChain } from "../../../src/passes/layout/axis-chain.js";
import { testRewrite } from "../../support/test-rewrite.js";

const chain = (inputs: string, first: string, second: string): string => `(${inputs}) -> (y) {
  a = ${first}
  y = ${second}
}`;

testRewrite(fuseAxisChain, {
  rewrites: {
    "axes that are added behind one another": chain(
      "x: f32[N,3]",
      "Unsqueeze(x, $p: i64[1] = {0})",
      "Unsqueeze(a, $q: i64[2] = {0, 2})",
    ),
    "axes that are added before one another": chain(
      "x: f32[N,3]",
      "Unsqueeze(x, $p: i64[1] = {2})",
      "Unsqueeze(a, $q: i64[1] = {1})",
    ),
    "axes counted from the end": chain(
      "x: f32[N,3]",
      "Unsqueeze(x, $p: i64[1] = {-2})",
      "Unsqueeze(a, $q: i64[1] = {-1})",
    ),
    "axes that are dropped": chain(
      "x: f32[1,N,1,3,1]",
      "Squeeze(x, $p: i64[1] = {2})",
      "Squeeze(a, $q: i64[2] = {0, -1})",
    ),
    "axes as an attribute": [chain("x: f32[1,N,1]", "Squeeze<axes=[0]>(x)", "Squeeze<axes=[1]>(a)"), { opset: 11 }],
  },
  leaves: {
    "axes that are computed": [
      chain("x: f32[N,3], p: i64[1]", "Unsqueeze(x, p)", "Unsqueeze(a, $q: i64[1] = {0})"),
      null,
    ],
    "axes that are left out": [chain("x: f32[1,N,1]", "Squeeze(x, $p: i64[1] = {0})", "Squeeze(a)"), null],
    "axes that are added and dropped": [
      chain("x: f32[N,1,3]", "Squeeze(x, $p: i64[1] = {1})", "Unsqueeze(a, $q: i64[1] = {0})"),
      null,
    ],
    "a first node that others read": [
      `(x: f32[N,3]) -> (y, z) {
        a = Unsqueeze(x, $p: i64[1] = {0})
        y = Unsqueeze(a, $q: i64[1] = {0})
        z = Relu(a)
      }`,
      null,
    ],
  },
});
