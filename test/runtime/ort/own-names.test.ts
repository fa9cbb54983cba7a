import { expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { inOwnNames } from "../../../src/runtime/ort/own-names.js";

const names = {
  scratch: "/scratch/infer-opt-7-abc",
  nameOf: (path: string) => (path.endsWith("original-1.00ff.linked.onnx") ? "net.onnx" : "what was made of net.onnx"),
};
const told = (message: string, fields: Record<string, unknown> = {}): InferOptError =>
  inOwnNames(new InferOptError("RUN_FAILED", "runtime", message, { hint: "Look.", fields }), names) as InferOptError;

it("names the model that a file of the scratch folder is another form of", () => {
  const model = "/scratch/infer-opt-7-abc/original-1.00ff.linked.onnx";
  const error = told(`${model} failed on s[0]: no`, { model, sample: "s[0]" });
  expect(error.message).toBe("net.onnx failed on s[0]: no");
  expect(error).toMatchObject({ code: "RUN_FAILED", hint: "Look.", fields: { model: "net.onnx", sample: "s[0]" } });
});

it("names it where only the name of the file is told", () => {
  const model = "/scratch/infer-opt-7-abc/taps-3.00ff.linked.onnx";
  expect(told("ONNX Runtime crashed while loading taps-3.00ff.linked.onnx (signal SIGKILL)", { model }).message).toBe(
    "ONNX Runtime crashed while loading what was made of net.onnx (signal SIGKILL)",
  );
});

it("names all of several, and leaves other files", () => {
  const [a, b] = ["/scratch/infer-opt-7-abc/candidate-3.onnx", "/scratch/infer-opt-7-abc/original-1.00ff.linked.onnx"];
  expect(told(`${a} and ${b} and /data/candidate-3.onnx and /scratch/infer-opt-7-abc/samples-2`).message).toBe(
    "what was made of net.onnx and net.onnx and /data/candidate-3.onnx and /scratch/infer-opt-7-abc/samples-2",
  );
});

it.each([
  new InferOptError("RUN_FAILED", "runtime", "net.onnx failed", { fields: { model: "net.onnx" } }),
  // Advice about the folder needs its name.
  new InferOptError("OUTPUT_FAILED", "input", "cannot write /scratch/infer-opt-7-abc/a-1.onnx", {
    fields: { path: "/scratch/infer-opt-7-abc/a-1.onnx" },
  }),
  new Error("internal: /scratch/infer-opt-7-abc/a-1.onnx"),
])("leaves %s as it is", (error) => {
  expect(inOwnNames(error, names)).toBe(error);
});
