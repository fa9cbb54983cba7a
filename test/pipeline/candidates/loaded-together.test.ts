import { expect, it } from "vitest";
import { loadedTogether } from "../../../src/pipeline/candidates/loaded-together.js";

it("has no more in a group than fits into memory, in order", () => {
  const sized = (...megabytes: number[]) =>
    loadedTogether(megabytes.map((size) => ({ built: { bytes: size * 2 ** 20 } }))).map((batch) =>
      batch.map(({ built }) => built.bytes / 2 ** 20),
    );
  expect(sized()).toEqual([]);
  expect(sized(1, 1, 1, 1, 1, 1, 1)).toEqual([[1, 1, 1, 1, 1, 1], [1]]);
  expect(sized(10, 6, 1, 20, 1)).toEqual([[10, 6], [1], [20], [1]]);
});
