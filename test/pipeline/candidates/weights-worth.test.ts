import { expect, it } from "vitest";
import { regionsOf } from "../../../src/pipeline/candidates/regions.js";
import { worthOfWeights } from "../../../src/pipeline/candidates/weights-worth.js";
import { prepared } from "../../support/quantize-text.js";

it("shares a fiftieth of the time among weights by their size, those of tables too", async () => {
  const model = await prepared(`(x: f32[1,256], i: i64[1]) -> (y) {
    t = Gather($table: f32[512,256], i)
    s = Add(x, t)
    a = MatMul(s, $k: f32[256,256])
    y = MatMul(a, $l: f32[256,256])
  }`);
  const names = [...model.graph.nodes()].filter(({ op }) => op !== "Add").map(({ name }) => name);
  const regions = regionsOf(model, new Set(names));
  expect(regions.map(({ name }) => name)).toEqual(names);
  const times = new Map(names.map((name, i) => [name, { beforeMs: 10 * (i + 1), kernelMs: 1, conversionMs: 0 }]));
  const worth = worthOfWeights(model, regions, times);
  // Of 60 ms, 1.2: a half to 512 of 1024 rows.
  expect(names.map(worth)).toEqual([0.6, 0.3, 0.3].map((ms) => expect.closeTo(ms)));
  expect(worthOfWeights(model, [], new Map())("a")).toBe(0);
});
