import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { SearchFiles } from "../../../src/pipeline/resume/search-files.js";
import { modelFile } from "../../support/model-file.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const full = new InferOptError("OUTPUT_FAILED", "input", "cannot write out.onnx: the disk is full", {
  hint: "Free some space.",
  cause: Object.assign(new Error("no space left"), { code: "ENOSPC" }),
  fields: { path: "out.onnx" },
});

/** A search that has measured something, and kept a file. */
function search() {
  const folder = temporaryFolder();
  const files = SearchFiles.beside(join(folder, "out.onnx"), "this", "speed", { warn: () => {} })!;
  files.journal.record("a candidate", "accuracy", 1);
  const path = modelFile(temporaryFolder(), "(x: f32[2]) -> (y) { y = Relu(x) }");
  files.best.offer({ speedup: 2, built: { path, bytes: 1 } });
  return { folder, files };
}

const running = new AbortController().signal;

it("a search that cannot write keeps what it measured, and says so", () => {
  const { folder, files } = search();
  const told = files.failed(full, running) as InferOptError;
  expect(readdirSync(folder).sort()).toEqual(["out.best.onnx", "out.onnx.journal.jsonl"]);
  expect(told).toMatchObject({ code: "OUTPUT_FAILED", message: full.message, fields: { path: "out.onnx" } });
  expect(told.hint).toMatch(/^Free some space\. .*out\.onnx\.journal\.jsonl holds what was measured/);
});

it("a search whose runtime failed names the best file so far, and what the next one goes on with", () => {
  const { folder, files } = search();
  const died = new InferOptError("RUNTIME_CRASHED", "runtime", "the process ended");
  const told = files.failed(died, running) as InferOptError;
  expect(told).toMatchObject({ code: "RUNTIME_CRASHED", kind: "runtime", message: "the process ended" });
  expect(told.hint).toContain(`is ${join(folder, "out.best.onnx")}. ${join(folder, "out.onnx.journal.jsonl")} holds`);
});

it("a search says that it goes on with what an earlier one measured, and nothing where there is none", () => {
  const { folder } = search();
  const said = (output: string): string[] => {
    const warnings: string[] = [];
    SearchFiles.beside(join(folder, output), "this", "speed", { warn: (...told) => void warnings.push(...told) });
    return warnings;
  };
  expect(said("out.onnx")[0]).toMatch(/^goes on with .*: [1-9]\d* entries of .*out\.onnx\.journal\.jsonl$/);
  expect(said("other.onnx")).toEqual([]);
});

it("a search that was asked the wrong thing keeps nothing", () => {
  const { folder, files } = search();
  const mistake = new InferOptError("DATASET_SHAPE", "input", "another shape");
  expect(files.failed(mistake, running)).toBe(mistake);
  expect(readdirSync(folder)).toEqual([]);
});

it("the best file so far gives way to the result where there is no room for both", async () => {
  const { folder, files } = search();
  const best = join(folder, "out.best.onnx");
  const write = async (): Promise<string> => {
    if (existsSync(best)) throw full;
    return "written";
  };
  expect(await files.write(write)).toBe("written");
  // What was measured stays until the search is over.
  expect(readdirSync(folder)).toEqual(["out.onnx.journal.jsonl"]);
});

it("a result that cannot be written for any other reason is not tried twice", async () => {
  const { folder, files } = search();
  let tries = 0;
  const write = async (): Promise<never> => {
    tries++;
    throw new InferOptError("OUTPUT_FAILED", "input", "cannot write out.onnx: permission denied");
  };
  await expect(files.write(write)).rejects.toThrow("permission denied");
  expect([tries, readdirSync(folder).length]).toEqual([1, 2]);
});

it("an interrupted search claims no more of the best file than was judged: speed is timed in the end", () => {
  const { files } = search();
  const told = files.failed(new Error("aborted"), AbortSignal.abort()) as InferOptError;
  expect(told.code).toBe("INTERRUPTED");
  expect(told.hint).toMatch(/^The best file so far that meets the limits on accuracy and size is .*out\.best\.onnx\. /);
});
