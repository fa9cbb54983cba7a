/** `verify` and `gate` on data that has outputs of its own, with ONNX Runtime. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runGate } from "../../../src/pipeline/gate/gate.js";
import { runVerify } from "../../../src/pipeline/verify/verify.js";
import { startRuntime } from "../../runtime/ort/workbench.js";
import { faultOf } from "../../support/dataset.js";
import { modelFile } from "../../support/model-file.js";
import { realContext } from "../../support/real-run.js";
import { limitsOf, runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { f32Proto } from "../../support/tensor-file.js";

const rows = [
  [1, 2, 3, 4],
  [4, 3, 2, 1],
  [1, 9, 2, 3],
  [5, 6, 8, 7],
];
const double = rows.map((row) => row.map((value) => 2 * value));
/** The second sample's answer is another class. */
const truth = double.map((row, i) => (i === 1 ? [...row].reverse() : row));

const model = (folder: string, name: string, ops: string): string =>
  modelFile(folder, `(x: f32[1,4]) -> (y, z) {\n${ops}\n z = Relu(x)\n}`, { name });

function scene(references: readonly (readonly number[] | null)[], outputName = "y") {
  const files = Object.fromEntries(
    rows.flatMap((row, i): [string, Uint8Array][] => {
      const at = `data/test_data_set_${i}`;
      const wanted = references[i];
      return [
        [`${at}/input_0.pb`, f32Proto("x", row, [1, 4])],
        ...(wanted
          ? [[`${at}/output_0.pb`, f32Proto(outputName, wanted, [1, wanted.length])] as [string, Uint8Array]]
          : []),
      ];
    }),
  );
  const folder = temporaryFolder(files);
  return {
    baseline: model(folder, "old.onnx", " y = Add(x, x)"),
    // Two of the four answers move: those whose first element is 1.
    candidate: model(
      folder,
      "new.onnx",
      " d = Add(x, x)\n c = Equal(d, $two: f32[] = {2})\n f = Cast<to=1>(c)\n g = Mul(f, $many: f32[] = {90})\n y = Add(d, g)",
    ),
    data: { calibration: null, eval: join(folder, "data"), metric: null },
    runtime: runtimeConfig(),
    limits: limitsOf({ maxDrop: { percent: 60 } }),
  };
}

describe("reference outputs", () => {
  it("are the truth for both models", async () => {
    const result = await runVerify(scene(truth), realContext(startRuntime()));
    expect(result.accuracy).toMatchObject({ kind: "reference", samples: 4, metric: "agreement" });
    // By hand: the original errs on the second sample; the candidate, which adds 90 to the last element there, on the first and the third.
    expect([result.accuracy!.baseline, result.accuracy!.candidate]).toEqual([0.75, 0.5]);
    const [before] = result.references!.baseline;
    const off = double[1]!.map((value, j) => value - truth[1]![j]!);
    expect(before).toMatchObject({ output: "y", maxAbs: Math.max(...off.map(Math.abs)), argmaxAgreement: 0.75 });
    expect(before!.rmse).toBe(Math.sqrt(off.reduce((sum, d) => sum + d * d, 0) / 16));
    expect(result.references!.candidate).toMatchObject([{ output: "y", maxAbs: 90, argmaxAgreement: 0.5 }]);
    // The two models with each other, as ever; the output without a reference too.
    expect(result.difference.map(({ output }) => output)).toEqual(["y", "z"]);
  });

  it("go by place where their names are not the model's", async () => {
    const result = await runVerify(scene(truth, "Plus214_Output_0"), realContext(startRuntime()));
    expect(result.accuracy).toMatchObject({ kind: "reference", baseline: 0.75 });
  });

  it("are the truth for gate", async () => {
    const asked = { ...scene(truth), inconclusive: "fail" as const };
    const result = await runGate(asked, realContext(startRuntime()));
    expect(result.accuracy).toMatchObject({ kind: "reference", delta: -0.25 });
    expect(result.references!.baseline).toHaveLength(1);
    expect(result.verdict.reasons[0]).toMatchObject({ limit: "max-drop", got: 25, status: "met" });
    expect(result.verdict.reasons[0]!.text).toContain("against the reference outputs");
  });

  it("of another shape are told, and the models compared with each other all the same", async () => {
    const asked = scene(rows.map(() => [1, 2]));
    const module = temporaryFolder({
      "m.mjs": "export const name = 'n'; export const higherIsBetter = true; export const score = () => 1;",
    });
    const metric = { kind: "module" as const, path: join(module, "m.mjs") };
    const result = await runVerify({ ...asked, data: { ...asked.data, metric } }, realContext(startRuntime()));
    expect(result.warnings.filter((text) => text.includes("against the reference outputs"))).toHaveLength(2);
    expect(result.references).toEqual({ baseline: [], candidate: [] });
    expect(result.difference).toHaveLength(2);
  });

  it("of some samples only are refused", async () => {
    const partial = scene([truth[0]!, null, truth[2]!, truth[3]!]);
    const fault = await faultOf(() => runVerify(partial, realContext(startRuntime())));
    expect(fault).toMatchObject({ code: "DATASET_REFERENCES_PARTIAL", kind: "input" });
    expect(fault.message).toContain("test_data_set_1 has none");
  });

  it("are not missed where the data has none", async () => {
    const result = await runVerify(scene([]), realContext(startRuntime()));
    expect(result.accuracy!.kind).toBe("agreement");
    expect(result.references).toBeUndefined();
  });

  it("are what a metric module is given as reference", async () => {
    const asked = scene(truth);
    const folder = temporaryFolder({
      "m.mjs": `export const name = "far"; export const higherIsBetter = false;
        export const score = (outputs, _labels, _sample, reference) => Math.abs(outputs.y.data[0] - reference.y.data[0]);`,
    });
    const metric = { kind: "module" as const, path: join(folder, "m.mjs") };
    const result = await runVerify({ ...asked, data: { ...asked.data, metric } }, realContext(startRuntime()));
    // 8 became 2 in the second sample alone.
    expect(result.accuracy).toMatchObject({ kind: "reference", baseline: 6 / 4 });
  });
});
