import { expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { inlineIf } from "../../../src/passes/control/inline-if.js";
import { runPasses } from "../../../src/rewrite/index.js";
import { testRewrite } from "../../support/test-rewrite.js";

it("keeps what the model declares about its outputs", async () => {
  const model = parseModel(`(x: f32[N,3]) -> (y, z) {
    y, z = If<then_branch=() -> (t, u) { t = Relu(x) u = Neg(t) }, else_branch=() -> (e, f) { e = Exp(x) f = Abs(x) }>($c: bool[] = {1})
  }`);
  model.graph.firstNode!.outputs[0]!.type = { dtype: "f32", shape: ["batch", "width"] };
  await runPasses(model, [inlineIf], { check: true });
  expect(model.graph.outputs.map(({ name, value }) => [name, value.type])).toEqual([
    ["y", { dtype: "f32", shape: ["batch", "width"] }],
    ["z", null],
  ]);
});

testRewrite(inlineIf, {
  rewrites: {
    "a condition that is always true": `(x: f32[N,3]) -> (y) {
      a = If<then_branch=() -> (t) { r = Relu(x) t = Neg(r) }, else_branch=() -> (e) { e = Exp(x) }>($c: bool[] = {1})
      y = Abs(a)
    }`,
    "a condition of one element that is always false": `(x: f32[N,3]) -> (y) {
      a = If<then_branch=() -> (t) { t = Relu(x) }, else_branch=() -> (e) { e = Add(x, $k: f32[3]) }>($c: bool[1] = {0})
      y = Abs(a)
    }`,
    "a branch that gives public outputs": `(x: f32[N,3]) -> (y, z) {
      y, z = If<then_branch=() -> (t, u) { t = Relu(x) u = Neg(t) }, else_branch=() -> (e, f) { e = Exp(x) f = Abs(x) }>($c: bool[] = {1})
    }`,
    "a branch that hands on an input and a constant": `(x: f32[2,3]) -> (y, z) {
      y, z = If<then_branch=() -> (x, $k: f32[2,3]) { }, else_branch=() -> (e, f) { e = Exp(x) f = Abs(x) }>($c: bool[] = {1})
    }`,
    "one value behind two outputs": `(x: f32[N,3]) -> (y, z) {
      a = Neg(x)
      y, z = If<then_branch=() -> (a, t) { t = Identity(a) }, else_branch=() -> (e, f) { e = Exp(x) f = Abs(x) }>($c: bool[] = {1})
    }`,
    "a body inside a body that reads both of its surroundings": `(x: f32[N,3], d: bool[]) -> (y) {
      y = If<then_branch=() -> (t) {
        r = Relu(x)
        t = If<then_branch=() -> (i) { i = Add(r, x) }, else_branch=() -> (j) { j = Sub(r, x) }>(d)
      }, else_branch=() -> (e) { e = Exp(x) }>($c: bool[] = {1})
    }`,
    "an If inside a branch whose own condition is unknown": `(x: f32[N,3], d: bool[]) -> (y) {
      y = If<then_branch=() -> (t) {
        t = If<then_branch=() -> (i) { i = Neg(x) }, else_branch=() -> (j) { j = Abs(x) }>($c: bool[] = {1})
      }, else_branch=() -> (e) { e = Exp(x) }>(d)
    }`,
    "two branches that do the same": `(x: f32[N,3], d: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { r = Relu(x) t = Add(r, $k: f32[1] = {2}) },
             else_branch=() -> (e) { s = Relu(x) e = Add(s, $l: f32[1] = {2}) }>(d)
    }`,
    "a branch that gives a sequence": `(x: f32[2,3]) -> (y) {
      s = If<then_branch=() -> (t) { t = SequenceConstruct(x, x) }, else_branch=() -> (e) { e = SequenceConstruct(x) }>($c: bool[] = {1})
      y = SequenceAt(s, $i: i64[] = {1})
    }`,
  },
  leaves: {
    "a condition that is an input": [
      `(x: f32[N,3], d: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Relu(x) }, else_branch=() -> (e) { e = Exp(x) }>(d)
      }`,
      null,
    ],
    "branches with other constants": [
      `(x: f32[N,3], d: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Add(x, $k: f32[1] = {2}) }, else_branch=() -> (e) { e = Add(x, $l: f32[1] = {-2}) }>(d)
      }`,
      null,
    ],
    "branches with other attributes": [
      `(x: f32[2,3], d: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Softmax<axis=0>(x) }, else_branch=() -> (e) { e = Softmax<axis=1>(x) }>(d)
      }`,
      null,
    ],
    "branches that swap operands": [
      `(x: f32[N,3], z: f32[N,3], d: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = Sub(x, z) }, else_branch=() -> (e) { e = Sub(z, x) }>(d)
      }`,
      null,
    ],
    "branches that draw random numbers": [
      `(d: bool[]) -> (y) {
        y = If<then_branch=() -> (t) { t = RandomNormal<shape=[2]>() }, else_branch=() -> (e) { e = RandomNormal<shape=[2]>() }>(d)
      }`,
      null,
    ],
  },
});
