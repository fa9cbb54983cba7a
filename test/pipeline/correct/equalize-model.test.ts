import { expect, it } from "vitest";
import { isPromising, isSame } from "../../../src/pipeline/correct/equalize-model.js";
import { differenceOf, FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { runtimeConfig } from "../../support/run-config.js";

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

it.each([
  ["rounds a little otherwise", { relativeL2: 1e-5 }, true],
  ["computes something else", { relativeL2: 0.01 }, false],
  ["has other shapes", { mismatch: "other shapes" }, false],
  ["answers NaN where the model does not, of which distances know nothing", { nanMismatch: 1 }, false],
])("judges a scaled model that %s", async (_, facts, same) => {
  const fake = new FakeRuntime({}, { compare: () => [differenceOf("y"), differenceOf("z", facts)] });
  const intake = { trial: { path: "samples.npz", indices: [0, 1, 2] } };
  const answer = await isSame("a.onnx", "b.onnx", intake, { runtime: runtimeConfig() }, fakeContext(fake));
  expect(answer).toBe(same);
});
