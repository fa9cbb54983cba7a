import { describe, expect, it } from "vitest";
import { type Model, parseModel, Tensor } from "../../../src/ir/index.js";
import { foldRangeBound } from "../../../src/passes/fold/range-bound.js";
import { runPasses } from "../../../src/rewrite/index.js";
import { runModel } from "../../support/run-model.js";
import { testRewrite } from "../../support/test-rewrite.js";

const apply = async (model: Model) => (await runPasses(model, [foldRangeBound], { check: true }))[0]!.applied;

// The runtime does not load what it starts from: there is nothing to compare with.
describe("fold-range-bound", () => {
  it("makes scalars of constants of one element", async () => {
    const model = parseModel("(n: i64[]) -> (y) { y = Range($from: i64[1] = {2}, n, $by: i64[1] = {3}) }");
    expect(await apply(model)).toBe(1);
    const { y } = await runModel(model, { n: Tensor.scalar("i64", 9) });
    expect(y!.integers()).toEqual([2, 5, 8]);
    expect(await apply(model)).toBe(0);
  });
});

testRewrite(foldRangeBound, {
  rewrites: {},
  leaves: {
    "bounds that are scalars": ["(n: i64[]) -> (y) { y = Range($from: i64[] = {2}, n, $by: i64[] = {3}) }", null],
  },
});
