import { expect, it } from "vitest";
import { parseModel, printGraph } from "../../../src/ir/index.js";
import { showModel } from "../../../src/pipeline/explain/show.js";
import { modelFile } from "../../support/model-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

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

it("shows names that would drive a terminal or turn the order of reading by their codes", () => {
  const odd = JSON.stringify("\u001b[31m\u009b\u202ered").slice(1, -1);
  const text = `("x${odd}": f32["n${odd}"]) -> (y) {
  y = "domain${odd}::Op"<"a${odd}"="${odd}">("x${odd}")
}`;
  const shown = showModel(modelFile(temporaryFolder(), text));
  expect(shown).not.toMatch(/[^\n -~]/);
  expect(shown.split("\n")[0]).toBe('# ir version 10, opset 17, "domain\\u001b[31m\\u009b\\u202ered" 1');
  expect(printGraph(parseModel(shown).graph)).toBe(shown.slice(shown.indexOf("("), -1));
});
