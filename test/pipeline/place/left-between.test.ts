import { expect, it } from "vitest";
import type { Model } from "../../../src/ir/index.js";
import { leftBetween } from "../../../src/pipeline/place/left-between.js";
import { leftOut } from "../../../src/pipeline/select.js";
import { prepared, safeTarget } from "../../support/quantize-text.js";

const text = `(x: f32[1,4,8,8]) -> (y) {
  a = Conv(x, $u: f32[4,4,1,1])
  b = Conv(a, $v: f32[4,4,1,1])
  s = Add(a, b)
  p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(s)
  c = Conv(p, $w: f32[4,4,1,1])
  y = Tanh(c)
}`;
const warning = async (include: readonly string[], exclude: readonly string[] = []): Promise<string | null> => {
  const model: Model = await prepared(text);
  return leftBetween(model, safeTarget, leftOut(model, { include, exclude }));
};

it("names what lies between nodes that are included, and how to include it", async () => {
  const said = await warning(["op:Conv"]);
  expect(said).toContain("leaves 2 nodes between integers in float (Add 1, MaxPool 1)");
  expect(said).toContain("--include op:Add --include op:MaxPool");
  // An Add that is included ends nowhere on integers, as long as the pooling behind it is not.
  expect(await warning(["op:Conv", "op:Add"])).toMatch(/leaves 2 nodes .*takes time: --include op:MaxPool makes/);
  expect(await warning(["op:Conv", "op:MaxPool"])).toMatch(/leaves 2 nodes .*takes time: --include op:Add makes/);
});

it("says nothing where nothing is left between, or it was left out by name", async () => {
  expect(await warning(["op:Conv", "op:Add", "op:MaxPool"])).toBeNull();
  expect(await warning(["Conv:c"])).toBeNull();
  expect(await warning([], ["op:Add"])).toBeNull();
  expect(await warning(["op:Conv"], ["op:Add", "op:MaxPool"])).toBeNull();
  expect(await warning([])).toBeNull();
});
