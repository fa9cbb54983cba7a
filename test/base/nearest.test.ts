import { expect, it } from "vitest";
import { nearestName } from "../../src/base/nearest.js";

it("finds the name with the fewest edits", () => {
  expect(nearestName("input_id", ["attention_mask", "input_ids", "pixel_values"])).toBe("input_ids");
});

it("takes letter case for no difference", () => {
  expect(nearestName("IMAGE", ["mage", "image"])).toBe("image");
});

it("has no answer without names", () => {
  expect(nearestName("x", [])).toBeNull();
});
