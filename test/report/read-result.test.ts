import { join } from "node:path";
import { expect, it } from "vitest";
import { renderJson } from "../../src/report/json.js";
import { readResult } from "../../src/report/read-result.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { sampleResult } from "./sample-result.js";

it("reads back what was written", () => {
  const folder = temporaryFolder({ "r.json": renderJson(sampleResult()) });
  expect(readResult(join(folder, "r.json"))).toEqual(sampleResult());
});

it.each([
  ["no JSON", "{", "RESULT_INVALID"],
  ["another schema", `{"schemaVersion": 2}`, "RESULT_VERSION"],
  ["a field of another type", renderJson({ ...sampleResult(), warnings: [1] }), "RESULT_INVALID"],
  ["a field missing", renderJson({ ...sampleResult(), environment: undefined }), "RESULT_INVALID"],
])("refuses %s", async (_, text, code) => {
  const folder = temporaryFolder({ "r.json": text });
  const fault = await faultOf(() => readResult(join(folder, "r.json")));
  expect(fault).toMatchObject({ code, kind: "input" });
  expect(fault.message).toContain("r.json");
});

it("refuses a model, and says what reads it", async () => {
  const folder = temporaryFolder({ "m.onnx": "\b\b" });
  const { code, hint } = await faultOf(() => readResult(join(folder, "m.onnx")));
  expect([code, hint]).toEqual(["RESULT_INVALID", expect.stringContaining("infer-opt inspect")]);
});

it("refuses a file that is not there", async () => {
  const folder = temporaryFolder({ "result.json": "{}" });
  const { message, hint } = await faultOf(() => readResult(join(folder, "reslt.json")));
  expect(message).not.toContain("ENOENT");
  expect(hint).toBe(`Did you mean ${join(folder, "result.json")}?`);
  expect(await faultOf(() => readResult("no-such.json"))).toMatchObject({ code: "RESULT_UNREADABLE", kind: "input" });
});
