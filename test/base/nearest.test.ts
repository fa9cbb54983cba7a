import { expect, it } from "vitest";
import { likelyName, nearestName } from "../../src/base/nearest.js";

it("finds the name with the fewest edits", () => {
  expect(nearestName("input_id", ["attention_mask", "input_ids", "pixel_values"])).toBe("input_ids");
});

it("takes letter case for no difference", () => {
  expect(nearestName("IMAGE", ["mage", "image"])).toBe("image");
});

it("takes for likely what is mistyped or a part, and nothing else", () => {
  const names = ["fuse-gelu", "optimize", "static"];
  expect(likelyName("optimise", names)).toBe("optimize");
  expect(likelyName("GELU", names)).toBe("fuse-gelu");
  expect(likelyName("banana", names)).toBeNull();
  expect(likelyName("zz", ["json"])).toBeNull();
  expect(likelyName("", names)).toBeNull();
});

it("has no answer without names", () => {
  expect(nearestName("x", [])).toBeNull();
});
