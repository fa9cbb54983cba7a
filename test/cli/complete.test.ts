import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { commands } from "../../src/cli/commands/index.js";
import { completionScripts, completions } from "../../src/cli/complete.js";
import { manualMarkdown, manualRoff } from "../../src/cli/manual.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { command, fakeIo } from "./fake-io.js";

const actions = {
  passes: async () =>
    ["fuse-clip", "fuse-pad", "fold-constants"].map((name) => ({
      name,
      summary: "",
      numerics: "exact" as const,
      recipes: [],
    })),
  names: async (model: string) => {
    if (model !== "net.onnx") throw new InferOptError("MODEL_MISSING", "input", `there is no file ${model}`);
    return ["/a/Conv", "/b/Conv", "op:Conv"];
  },
};
const complete = (line: string): Promise<readonly string[]> => completions(line.split(" "), commands, actions);

describe("completions", () => {
  it.each([
    ["qu", ["quantize"]],
    ["help ga", ["gate"]],
    ["completion z", ["zsh"]],
    ["quantize net.onnx --max-d", ["--max-drop"]],
    ["quantize net.onnx --mode d", ["dynamic"]],
    ["quantize net.onnx --skip fuse-", ["fuse-clip", "fuse-pad"]],
    ["quantize net.onnx --exclude /b", ["/b/Conv"]],
    ["quantize net.onnx --exclude op:", ["op:Conv"]],
    ["quantize net.onnx --skip fuse-clip,fuse-p", ["fuse-clip,fuse-pad"]],
    ["quantize net.onnx --mode=d", ["--mode=dynamic"]],
    ["quantize net.onnx --exclude=/b", ["--exclude=/b/Conv"]],
    ["quantize net.onnx --calibration=", []],
    // The name of a file is for the shell to find.
    ["quantize ne", []],
    ["quantize net.onnx -o ", []],
    ["quantize --exclude ", []],
    ["quantize missing.onnx --exclude ", []],
    ["frobnicate --", []],
  ])("%j", async (line, expected) => {
    expect(await complete(line)).toEqual(expected);
  });

  it("offers every command first, and no flag that a command does not have", async () => {
    expect(await complete("")).toEqual(expect.arrayContaining(commands.map(({ name }) => name)));
    expect(await complete("doctor --max-")).toEqual([]);
  });

  it("is asked by the environment", async () => {
    const { stdout, code } = await command(["verify", "--metr"], { io: fakeIo({ env: { INFER_OPT_COMPLETE: "1" } }) });
    expect([stdout, code]).toEqual(["--metric\n", 0]);
  });
});

describe("completion", () => {
  it("refuses other shells", async () => {
    const { stderr, code } = await command(["completion", "tcsh"]);
    expect(stderr).toContain("SHELL_UNKNOWN");
    expect(code).toBe(2);
  });

  it.skipIf(spawnSync("bash", ["-c", "exit"]).status !== 0)("works in bash, names with colons too", () => {
    const folder = temporaryFolder({
      "infer-opt": '#!/bin/sh\nprintf \'%s\\n\' "$INFER_OPT_COMPLETE" "$*" op:Conv op:Clip\n',
    });
    chmodSync(join(folder, "infer-opt"), 0o755);
    const script = join(folder, "try.sh");
    const line = "infer-opt quantize net.onnx --exclude op:C";
    writeFileSync(
      script,
      `${completionScripts.bash}\nCOMP_LINE="${line}" COMP_POINT=${line.length}\n_infer_opt\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`,
    );
    const told = execFileSync("bash", [script], { encoding: "utf8", env: { PATH: `${folder}:${process.env.PATH}` } });
    // What stands before the colon is there already.
    expect(told).toBe("1\nquantize net.onnx --exclude op:C\nConv\nClip\n");
  });
});

describe("manuals", () => {
  const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");

  it("are what the tables of commands say (node scripts/manual.mjs)", () => {
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(read("docs/commands.md")).toBe(manualMarkdown(commands));
    expect(read("man/infer-opt.1")).toBe(manualRoff(commands, version));
  });
});
