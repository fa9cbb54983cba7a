import { expect, it } from "vitest";
import { madeUpSizes } from "../../src/pipeline/made-up-sizes.js";

const signature = [
  { name: "ids", dtype: "i64", shape: [1, "length"] },
  { name: "mask", dtype: "i64", shape: [1, "length"] },
  { name: "fixed", dtype: "f32", shape: [1, 3] },
] as const;
const random = { seed: 1, count: 1, signature };

it("tells of made-up inputs the sizes that the model leaves open, and of others nothing", async () => {
  const told = await madeUpSizes({ path: "random", random });
  expect(told).toMatch(/^ids 1x(\d+); mask 1x\1$/);
  const shapes = { ids: [1, 7], mask: [1, 7] };
  expect(await madeUpSizes({ path: "random", random: { ...random, shapes } })).toBeNull();
  expect(await madeUpSizes({ path: "random", random: { ...random, signature: signature.slice(2) } })).toBeNull();
  expect(await madeUpSizes({ path: "samples.npz" })).toBeNull();
});

it("tells of sizes that vary the first, and says that there are more", async () => {
  const varied = [{ name: "x", dtype: "f32", shape: ["batch", 2] }] as const;
  expect(await madeUpSizes({ path: "random", random: { seed: 1, count: 3, signature: varied } })).toBe(
    "x 1x2, 2x2, ...",
  );
});
