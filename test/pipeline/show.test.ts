import { expect, it } from "vitest";
import { parseModel, printGraph } from "../../src/ir/index.js";
import { showModel } from "../../src/pipeline/show.js";
import { modelFile } from "../support/model-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

it("shows versions, functions and the graph", () => {
  const path = modelFile(temporaryFolder(), "(x: f32[2]) -> (y) { y = com.microsoft::Gelu(x) }");
  expect(showModel(path)).toBe(`# ir version 10, opset 17, com.microsoft 1
(x: f32[2]) -> (y) {
  y = com.microsoft::Gelu(x)
}
`);
  expect(showModel("fixtures/models/functions.onnx")).toMatch(/^# functions: \S/m);
});

it("shows text that can be read back", () => {
  const text = showModel(modelFile(temporaryFolder(), "(x: f32[2]) -> (y) { y = Add(x, $c: f32[2] = {1, 2}) }"));
  expect(printGraph(parseModel(text).graph)).toBe(text.slice(text.indexOf("("), -1));
});
