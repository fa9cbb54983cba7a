/** The command as users start it, from dist/: what only a real process can show. */
import { type StdioOptions, spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { renderJson } from "../../src/report/json.js";
import { sampleResult } from "../report/sample-result.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const binary = join(root, "bin", "infer-opt.js");
const digits = join(root, "fixtures", "models", "digits.onnx");

function infer(
  argv: readonly string[],
  options: { readonly cwd?: string; readonly input?: string; readonly stdin?: number } = {},
) {
  const { cwd = root, input, stdin = "pipe" } = options;
  const stdio: StdioOptions = [stdin, "pipe", "pipe"];
  const ended = spawnSync(process.execPath, [binary, ...argv], {
    encoding: "utf8",
    cwd,
    stdio,
    ...(input !== undefined && { input }),
  });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

it("answers a missing model with 3 and its name", () => {
  const out = join(temporaryFolder(), "o.onnx");
  const ended = infer(["fuse", "missing.onnx", "-o", out]);
  expect(ended).toMatchObject({ code: 3, stdout: "" });
  expect(ended.stderr).toContain("missing.onnx");
  expect(ended.stderr).not.toContain("    at ");
  expect(existsSync(out)).toBe(false);
});

it("answers a bad flag with 2", () => {
  expect(infer(["fuse", digits, "-o", "o.onnx", "--bits", "8"])).toMatchObject({ code: 2, stdout: "" });
});

it("finds this machine sound", () => {
  const ended = infer(["doctor", "--json"]);
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ schemaVersion: 1, command: "doctor" });
});

it("inspects a model, as text and as JSON", () => {
  const text = infer(["inspect", digits]);
  expect(text.code).toBe(0);
  expect(text.stdout).toContain("BatchNormalization 10");
  const json = infer(["inspect", digits, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ schemaVersion: 1, command: "inspect", model: { nodes: 35 } });
});

it("reads a result that is piped in, and says that models are not", () => {
  const text = renderJson(sampleResult());
  const shown = infer(["report", "-"], { input: text });
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain("PASS");
  expect(infer(["explain", "-"], { input: text }).stdout).toContain("standard input");
  expect(infer(["report", "-"], { input: "{}" })).toMatchObject({ code: 3, stdout: "" });
  expect(infer(["report", "-"], { input: "" }).stderr).toContain("standard input is no result");
  const folder = openSync(temporaryFolder(), "r");
  const unreadable = infer(["report", "-"], { stdin: folder });
  closeSync(folder);
  expect(unreadable).toMatchObject({ code: 3, stdout: "" });
  expect(unreadable.stderr).toContain("standard input cannot be read: EISDIR");
  const model = infer(["inspect", "-"], { input: "x" });
  expect(model).toMatchObject({ code: 3, stdout: "" });
  expect(model.stderr).toContain("a model is not read from standard input");
});

it("shows a graph", () => {
  const ended = infer(["show", digits]);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(ended.stdout).toContain("-> (logits) {");
});

describe("a run that writes a model", () => {
  it("prints one JSON object, the file it names, and leaves nothing else", () => {
    const folder = temporaryFolder();
    const ended = infer(["fuse", digits, "-o", "fused.onnx", "--json"], { cwd: folder });
    expect(ended.code).toBe(0);
    const result = JSON.parse(ended.stdout);
    expect(result).toMatchObject({ schemaVersion: 1, command: "fuse", output: { path: "fused.onnx" } });
    expect(result.output.bytes).toBe(readFileSync(join(folder, "fused.onnx")).length);
    expect(readdirSync(folder)).toEqual(["fused.onnx"]);
  });

  it("does not touch its input", () => {
    const folder = temporaryFolder({ "m.onnx": readFileSync(digits) });
    expect(infer(["fuse", "m.onnx", "-o", "./m.onnx"], { cwd: folder }).code).toBe(2);
    expect(readFileSync(join(folder, "m.onnx")).equals(readFileSync(digits))).toBe(true);
  });
});

it.skipIf(process.platform === "win32")(
  "stops at Ctrl-C with 130 and leaves no file and no scratch folder",
  async () => {
    const folder = temporaryFolder();
    const scratch = temporaryFolder();
    const data = join(root, "calibration", "digits", "calibration.npz");
    const child = spawn(process.execPath, [binary, "optimize", digits, "-o", "o.onnx", "--calibration", data], {
      cwd: folder,
      env: { ...process.env, INFER_OPT_TMP: scratch },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    let isTold = false;
    const code = await new Promise((resolve) => {
      child.on("exit", resolve);
      child.stderr.on("data", (chunk: Buffer) => {
        stderr += chunk.toString();
        // The first stage that runs a child process has begun.
        if (!isTold && stderr.includes("fuse")) isTold = child.kill("SIGINT");
      });
    });
    expect(code).toBe(130);
    expect(stderr).toContain("error INTERRUPTED");
    expect(readdirSync(folder)).toEqual([]);
    expect(readdirSync(scratch)).toEqual([]);
  },
);
