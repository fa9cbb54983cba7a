import { expect, it } from "vitest";
import { parseModel } from "../../src/ir/index.js";
import { refusedByTarget } from "../../src/target/refused-by-target.js";

const model = parseModel("(x: f32[2,2]) -> (y) { a = Det(x) b = Det(x) y = Add(a, b) }", { opset: 21 });

it("says what stands in the way, of as much as there is", () => {
  expect(refusedByTarget(model, undefined)).toBeNull();
  expect(refusedByTarget(model, "ort-cpu")).toBeNull();
  // Where nodes run elsewhere, the model runs.
  expect(refusedByTarget(model, "coreml")).toBeNull();
  expect(refusedByTarget(model, "openvino")).toBe(
    "OpenVINO 2026.4 does not take the result: Det node Det:a: its reader has no rule for Det (and 1 more; `inspect --target openvino` lists them)",
  );
  expect(refusedByTarget(model, "ort-cpu@1.15")).toContain("does not take the result: opset 21 is beyond 18");
});
