import { expect, it } from "vitest";
import { numberRuns } from "../../src/base/number-runs.js";

it("names runs by their ends, and what stands alone by itself", () => {
  expect(numberRuns([0, 1, 2, 8, 10, 11])).toEqual(["0-2", "8", "10-11"]);
  expect(numberRuns([])).toEqual([]);
});
