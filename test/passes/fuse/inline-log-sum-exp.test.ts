import { describe, expect, it } from "vitest";
import { parseModel, Tensor } from "../../../src/ir/index.js";
import { recipes } from "../../../src/passes/catalog.js";
import { inlineLogSumExp } from "../../../src/passes/fuse/inline-log-sum-exp.js";
import { annotateTypes, runPasses } from "../../../src/rewrite/index.js";
import { describeModel, evaluate } from "../../support/ask-runtime.js";
import { runModel } from "../../support/run-model.js";
import { testRewrite } from "../../support/test-rewrite.js";

const attributes = (shape: string, given: string): string =>
  `(x: f32[${shape}]) -> (y) { y = ReduceLogSumExp<${given}>(x) }`;
const inputs = (given: string, axes: string): string =>
  `(x: f32[N,20,30]) -> (y) { y = ReduceLogSumExp${given}(x, $axes: i64[1] = {${axes}}) }`;

testRewrite(inlineLogSumExp, {
  rewrites: {
    "the last axis": attributes("N,20,30", "axes=[-1]"),
    "an axis that goes": attributes("N,20,30", "axes=[1], keepdims=0"),
    "two axes": attributes("N,20,30", "axes=[1,2], keepdims=0"),
    "all axes, unsaid": attributes("4,20,30", "keepdims=0"),
    "axes that are an input": [inputs("", "2"), { opset: 18 }],
    "axes that are an input, and go": [inputs("<keepdims=0>", "-2"), { opset: 18 }],
  },
  leaves: {
    "few elements": [attributes("N,15,30", "axes=[1]"), null],
    "an axis of unknown size": [attributes("N,200,30", "axes=[0]"), null],
    "an axis of no elements": [attributes("600,0", "axes=[1]"), null],
    "no axes at all": [
      "(x: f32[20,30]) -> (y) { y = ReduceLogSumExp<noop_with_empty_axes=1>(x, $axes: i64[0]) }",
      null,
      { opset: 18 },
    ],
    "double precision": ["(x: f64[N,20,30]) -> (y) { y = ReduceLogSumExp<axes=[1]>(x) }", null],
    "an older opset": [attributes("N,20,30", "axes=[1]"), null, { opset: 12 }],
  },
});

describe("inline-log-sum-exp", () => {
  it.each([
    { by: "itself", passes: [inlineLogSumExp] },
    { by: "all that `fuse` does", passes: recipes.fuse },
  ])("gives what the runtime gives for infinities and large numbers, by $by", async ({ passes }) => {
    const rows = [
      [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
      [Number.NEGATIVE_INFINITY, 1],
      [Number.POSITIVE_INFINITY, 1],
      [1000, 999],
      [-1000, -1001],
      [3e38, 3.3e38],
      [0, 0],
      [Number.NaN, 1],
    ];
    const text = `(x: f32[${rows.length},64]) -> (y) { y = ReduceLogSumExp<axes=[1]>(x) }`;
    const x = Tensor.f32(
      [rows.length, 64],
      rows.flatMap(([a, b]) => [...new Array(32).fill(a), ...new Array(32).fill(b)]),
    );
    const [original, model] = [parseModel(text), parseModel(text)];
    await annotateTypes(model, describeModel);
    const reports = await runPasses(model, passes, { evaluate });
    expect(reports.find(({ name }) => name === inlineLogSumExp.name)!.applied).toBe(1);
    const [before, after] = await Promise.all([runModel(original, { x }), runModel(model, { x })]);
    expect([...after["y"]!.toF32()!]).toEqual(
      [...before["y"]!.toF32()!].map((value) => (Number.isFinite(value) ? expect.closeTo(value, 3) : value)),
    );
  });
});
