import { resolve } from "node:path";
import { expect, it } from "vitest";
import { scratchNames } from "../../src/cli/scratch-names.js";

it("a file of which nothing is known is told by the model, where one alone was given", () => {
  expect(scratchNames(["net.onnx"], new Map())("/scratch/probe-1.onnx")).toBe("what was made of net.onnx");
  for (const given of [["a.onnx", "b.onnx"], []]) {
    expect(scratchNames(given, new Map())("/scratch/probe-1.onnx")).toBe("a model made for this run");
  }
});

it("a file of which the origin is known is told by that, as it was given", () => {
  const origins = new Map([["/scratch/probe-1.onnx", `what was made of ${resolve("nets/b$&.onnx")}`]]);
  const nameOf = scratchNames(["a.onnx", "nets/b$&.onnx"], origins);
  expect(nameOf("/scratch/probe-1.onnx")).toBe("what was made of nets/b$&.onnx");
});
