import { describe, expect, it } from "vitest";
import { check, countNodes, parseModel, printGraph } from "../../src/ir/index.js";
import { allPasses, recipes } from "../../src/passes/catalog.js";
import { annotateTypes, runPasses } from "../../src/rewrite/index.js";
import { describeModel, evaluate } from "../support/ask-runtime.js";
import { runModel, seededFeeds } from "../support/run-model.js";
import { expectSame } from "../support/test-rewrite.js";

describe("catalog", () => {
  it("gives every pass a name of its own that says what it does first", () => {
    const names = allPasses.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names)
      expect(name).toMatch(
        /^(approximate|eliminate|fold|fuse|hoist|inline|join|lift|sink|split|unroll|widen)(-[a-z]+)+$/,
      );
  });

  it("describes every pass in one sentence without a full stop", () => {
    for (const { summary } of allPasses) expect(summary).toMatch(/^[A-Z].*[^.]$/);
  });

  it("has only exact passes in the recipe that keeps the bits", () => {
    for (const pass of recipes.fold) expect(pass.numerics).toBe("exact");
  });
});

/** A mobile network's block written out as exporters do, with a hard swish, a squeeze and a symbolic batch. */
const BLOCK = `(x: f32[N,3,8,8]) -> (y) {
  p = Pad(x, $pads: i64[8] = {0, 0, 1, 1, 0, 0, 1, 1})
  c = Conv(p, $w: f32[4,3,3,3])
  n = BatchNormalization(c, $g: f32[4], $b: f32[4], $m: f32[4], $v: f32[4] = {0.5, 1.0, 1.5, 2.0})
  i = Identity(n)
  a = Add(i, $three: f32[] = {3.0})
  k = Clip(a, $zero: f32[] = {0.0}, $six: f32[] = {6.0})
  q = Mul(i, k)
  h = Div(q, $six2: f32[] = {6.0})
  s = Shape(h)
  d = Gather(s, $first: i64[] = {0})
  u = Unsqueeze(d, $axis: i64[1] = {0})
  t = Concat<axis=0>(u, $rest: i64[1] = {-1})
  f = Reshape(h, t)
  wt = Transpose<perm=[1,0]>($fc: f32[5,256])
  l = MatMul(f, wt)
  e = Add(l, $bias: f32[5])
  y = Dropout(e)
}`;

describe("recipes", () => {
  for (const [name, expected] of [
    ["fold", 10],
    ["fuse", 4],
  ] as const) {
    it(`${name} keeps the answers of a block and gets it down to ${expected} nodes`, async () => {
      const original = parseModel(BLOCK);
      const model = parseModel(BLOCK);
      await annotateTypes(model, describeModel);
      await runPasses(model, recipes[name], { evaluate, check: true });
      check(model.graph);
      expect(printGraph(model.graph)).toMatchSnapshot();
      expect(countNodes(model.graph)).toBe(expected);
      for (const size of [1, 3]) {
        const feeds = seededFeeds(original, size);
        expectSame(await runModel(original, feeds), await runModel(model, feeds), "rounding");
      }
    });
  }
});
