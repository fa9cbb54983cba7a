import { describe, expect, it } from "vitest";
import { datasetDigest, hashFeeds } from "../../src/dataset/content-hash.js";
import type { Labels, Sample } from "../../src/dataset/dataset.js";
import { Tensor } from "../../src/ir/index.js";
import { datasetOf } from "../support/dataset.js";

const sample = (tensor: Tensor, labels: Labels | null = null): Sample => ({
  id: "s",
  feeds: new Map([["x", tensor]]),
  labels,
});
const row = (...values: number[]) => Tensor.f32([1, values.length], values);

describe("hashFeeds", () => {
  it("does not depend on the order of inputs", () => {
    const [a, b] = [row(1), row(2)];
    expect(
      hashFeeds(
        new Map([
          ["a", a],
          ["b", b],
        ]),
      ),
    ).toBe(
      hashFeeds(
        new Map([
          ["b", b],
          ["a", a],
        ]),
      ),
    );
  });

  it.each([
    ["names", new Map([["y", row(1, 2)]])],
    ["shapes", new Map([["x", Tensor.f32([2], [1, 2])]])],
    ["values", new Map([["x", row(1, 3)]])],
    ["dtypes", new Map([["x", Tensor.fromBytes("i32", [1, 2], row(1, 2).bytes())]])],
  ])("tells %s apart", (_, feeds) => {
    expect(hashFeeds(feeds)).not.toBe(hashFeeds(new Map([["x", row(1, 2)]])));
  });
});

describe("datasetDigest", () => {
  it("depends on order, choice and labels", async () => {
    const dataset = datasetOf([sample(row(1)), sample(row(2), { json: 3 })]);
    const digests = [
      await datasetDigest(dataset),
      await datasetDigest(dataset, [1, 0]),
      await datasetDigest(dataset, [0]),
      await datasetDigest(datasetOf([sample(row(1)), sample(row(2), { json: 4 })])),
    ];
    expect(new Set(digests).size).toBe(4);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  it("does not depend on the name of file or sample", async () => {
    const renamed = { ...datasetOf([{ ...sample(row(1)), id: "other" }]), path: "elsewhere" };
    expect(await datasetDigest(renamed)).toBe(await datasetDigest(datasetOf([sample(row(1))])));
  });
});
