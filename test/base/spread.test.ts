import { expect, it } from "vitest";
import { spread } from "../../src/base/spread.js";

it("takes some of many, evenly, and all where there are few", () => {
  expect(spread(10, 5)).toEqual([0, 2, 4, 6, 8]);
  expect(spread([7, 8, 9], 2)).toEqual([7, 8]);
  expect(spread([7, 8], 5)).toEqual([7, 8]);
  expect(spread(0, 5)).toEqual([]);
});
