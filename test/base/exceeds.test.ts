import { describe, expect, it } from "vitest";
import { exceeds } from "../../src/base/exceeds.js";

describe("exceeds", () => {
  it.each([
    [[1, 0], true],
    [[0.5, 2], true],
    [[0, 0], false],
    [[3, -1e-9], false],
    [[Number.NaN, 1], false],
  ])("gains of %j: %s", (gains, expected) => expect(exceeds(gains)).toBe(expected));
});
