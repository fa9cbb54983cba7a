import { expect, it } from "vitest";
import { isPromising } from "../../../src/pipeline/correct/equalize-model.js";

const group = (tensors: number, expectedDb: number) => ({
  tensors: Array.from({ length: tensors }, (_, i) => `t${i}`),
  channels: 8,
  expectedDb,
});

it("takes equalization for promising where it helps many tensors, or one very much", () => {
  expect(isPromising([group(3, 2), group(5, 1.5)], 10)).toBe(true);
  expect(isPromising([group(3, 2), group(5, 1.5)], 40)).toBe(false);
  expect(isPromising([group(1, 1.8), group(1, 1.2)], 50)).toBe(false);
  expect(isPromising([group(1, 12)], 50)).toBe(true);
});
