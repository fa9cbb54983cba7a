import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { recipes } from "../../../src/passes/catalog.js";
import { foldSliceEnd } from "../../../src/passes/fold/slice-end.js";
import { annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { describeModel, evaluate } from "../../support/ask-runtime.js";
import { runModel, seededFeeds } from "../../support/run-model.js";
import { testRewrite } from "../../support/test-rewrite.js";

const slice = (end: string, step: string, type = "i64"): string =>
  `(x: f32[N,5]) -> (y) {
    s = Slice(x, $from: ${type}[1] = {-1}, $end: ${type}[1] = {${end}}, $axes: ${type}[1] = {1}, $step: ${type}[1] = {${step}})
    y = Neg(s)
  }`;

testRewrite(foldSliceEnd, {
  rewrites: {
    "the largest number of 32 bits": slice("2147483647", "-1"),
    "the largest number of 64 bits": slice("9223372036854775807", "-2"),
    "bounds of 32 bits": slice("2147483647", "-1", "i32"),
    "one end of several": `(x: f32[4,5]) -> (y) {
      y = Slice(x, $from: i64[2] = {0, -1}, $end: i64[2] = {2147483647, 2147483647}, $axes: i64[2] = {0, 1}, $step: i64[2] = {1, -1})
    }`,
  },
  leaves: {
    "a slice that runs forwards": [slice("2147483647", "1"), null],
    "an end behind the last element that means nothing": [slice("2147483648", "-1"), null],
    "an end that is the first element already": [slice("-9223372036854775808", "-1"), null],
    "no steps": ["(x: f32[4]) -> (y) { y = Slice(x, $from: i64[1] = {1}, $end: i64[1] = {2147483647}) }", null],
    "steps that are computed": [
      "(x: f32[4], t: i64[1]) -> (y) { y = Slice(x, $from: i64[1] = {1}, $end: i64[1] = {2147483647}, $axes: i64[1] = {0}, t) }",
      null,
    ],
  },
});

describe("the sizes behind a Slice that runs backwards", () => {
  it("are what the kernel makes, not what inference says", async () => {
    const text = `(x: f32[2,3]) -> (y) {
      s = Slice(x, $from: i64[1] = {-1}, $end: i64[1] = {2147483647}, $axes: i64[1] = {1}, $step: i64[1] = {-1})
      y = Shape(s)
    }`;
    const model = parseModel(text);
    await annotateTypes(model, describeModel);
    expect([...model.graph.nodes()][0]!.output.shape).toEqual([2, 3]);
    await runPasses(model, recipes.fold, { evaluate, check: true });
    const { y } = await runModel(model, seededFeeds(parseModel(text), 1));
    expect(y!.integers()).toEqual([2, 3]);
  });

  it("lets a graph load whose Loop never runs", async () => {
    const text = `(x: f32[2,1,2,6]) -> (y) {
      l = Loop<body=(i: i64[], k: bool[], s: f32) -> (on, t) {
        on = Identity(k)
        t = Add(s, x)
      }>($n: i64[] = {0}, _, x)
      r = Slice(l, $from: i64[2] = {0, 0}, $end: i64[2] = {2147483647, 2147483647}, $axes: i64[2] = {1, 2}, $step: i64[2] = {-1, -1})
      y = BatchNormalization(r, $g: f32[1], $b: f32[1], $m: f32[1], $v: f32[1] = {1.0})
    }`;
    const model = parseModel(text);
    await annotateTypes(model, describeModel);
    await runPasses(model, recipes.fold, { evaluate, check: true });
    const feeds = seededFeeds(parseModel(text), 1);
    expect((await runModel(model, feeds))["y"]!.dims).toEqual([2, 1, 1, 6]);
  });
});
