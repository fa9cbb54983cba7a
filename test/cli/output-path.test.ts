import { execFileSync } from "node:child_process";
import { closeSync, linkSync, openSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkPlace, checkWritable, modelOutput, requiredOutput } from "../../src/cli/output-path.js";
import { faultOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const folderWithModel = (): { folder: string; model: string } => {
  const folder = temporaryFolder({ "m.onnx": "model", "sub/keep": "" });
  return { folder, model: join(folder, "m.onnx") };
};

const linked = (link: (target: string, path: string) => void, target: string, path: string): string => {
  link(target, path);
  return path;
};

it("takes --output", () => {
  const { folder, model } = folderWithModel();
  expect(modelOutput(model, { output: join(folder, "o.onnx"), inPlace: false })).toBe(join(folder, "o.onnx"));
});

it("wants to be told where to write", async () => {
  const fault = await faultOf(() => modelOutput("m.onnx", { output: null, inPlace: false }));
  expect(fault).toMatchObject({ code: "OUTPUT_MISSING", kind: "usage" });
});

it.each([
  ["spelled the same", (_: string, model: string) => model],
  ["spelled by a detour", (folder: string) => join(folder, "sub", "..", "m.onnx")],
  ["spelled with a detour that stays", (folder: string) => `${folder}/sub/../m.onnx`],
  ["relative", (_: string, model: string) => relative(process.cwd(), model)],
  ["a symbolic link", (folder: string, model: string) => linked(symlinkSync, model, join(folder, "l"))],
  ["a hard link", (folder: string, model: string) => linked(linkSync, model, join(folder, "h"))],
])("refuses the input as output: %s", async (_, spelled) => {
  const { folder, model } = folderWithModel();
  const output = spelled(folder, model);
  expect(await faultOf(() => modelOutput(model, { output, inPlace: false }))).toMatchObject({
    code: "OUTPUT_IS_INPUT",
    kind: "usage",
  });
  expect(readFileSync(model, "utf8")).toBe("model");
});

it("refuses standard output", async () => {
  const { model } = folderWithModel();
  expect(await faultOf(() => modelOutput(model, { output: "-", inPlace: false }))).toMatchObject({
    code: "FLAG_INVALID",
    kind: "usage",
  });
});

it.each(["o.pt", "o.tflite", "o.ORT"])("refuses %s: no such file is written", async (output) => {
  const { folder, model } = folderWithModel();
  expect(await faultOf(() => modelOutput(model, { output: join(folder, output), inPlace: false }))).toMatchObject({
    code: "FLAG_INVALID",
    kind: "usage",
  });
});

it("calls the input with --in-place what it was called", () => {
  const called = relative(".", folderWithModel().model);
  expect(modelOutput(called, { output: null, inPlace: true })).toBe(called);
});

it("replaces the file behind a link with --in-place, not the link", () => {
  const { folder, model } = folderWithModel();
  symlinkSync(model, join(folder, "link.onnx"));
  expect(modelOutput(join(folder, "link.onnx"), { output: null, inPlace: true })).toBe(model);
});

describe.runIf(process.platform === "linux")("an output that a rename would put a file in the place of", () => {
  it.each([
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    [
      "a link to a pipe",
      (path: string) => {
        execFileSync("mkfifo", [`${path}.fifo`]);
        symlinkSync(`${path}.fifo`, path);
      },
    ],
    ["a link to what is open", (path: string) => symlinkSync("/proc/self/fd/1", path)],
    [
      "a link to a link to a file that is open",
      (path: string) => {
        writeFileSync(`${path}.open`, "");
        const fd = openSync(`${path}.open`, "r");
        onTestFinished(() => closeSync(fd));
        symlinkSync(`/proc/self/fd/${fd}`, `${path}.link`);
        symlinkSync(`${path}.link`, path);
      },
    ],
  ])("is refused before any work: %s", async (_, make) => {
    const { folder, model } = folderWithModel();
    const output = join(folder, "o.onnx");
    make(output);
    for (const take of [
      () => modelOutput(model, { output, inPlace: false }),
      () => requiredOutput({ output }, [model]),
    ]) {
      expect(await faultOf(take)).toMatchObject({ code: "OUTPUT_FAILED", kind: "input" });
    }
    // Text can be written into all of these.
    checkPlace({ flag: "--html", path: output }, [model]);
  });
});

it("takes a link to a regular file, or to nothing yet", () => {
  const { folder, model } = folderWithModel();
  symlinkSync("sub/keep", join(folder, "l.onnx"));
  symlinkSync("nothing", join(folder, "n.onnx"));
  for (const output of [join(folder, "l.onnx"), join(folder, "n.onnx")]) {
    expect(modelOutput(model, { output, inPlace: false })).toBe(output);
  }
});

it("refuses --in-place and another output together", async () => {
  const { folder, model } = folderWithModel();
  const fault = await faultOf(() => modelOutput(model, { output: join(folder, "o.onnx"), inPlace: true }));
  expect(fault.code).toBe("OUTPUT_CONFLICT");
});

it.each([
  ["a missing folder", "none/o.onnx", "does not exist"],
  ["a file in place of the folder", "m.onnx/o.onnx", "is no folder"],
  ["a folder", "sub", "it is a folder"],
])("refuses %s before any work", async (_, path, why) => {
  const { folder } = folderWithModel();
  const fault = await faultOf(() => checkWritable(join(folder, path)));
  expect(fault).toMatchObject({ code: "OUTPUT_FAILED", kind: "input" });
  expect(fault.message).toContain(why);
});

it.each([
  ["the input", "m.onnx", "OUTPUT_IS_INPUT", /^--hdr-log .*m\.onnx is the input .*m\.onnx$/],
  ["what something else is written to", "r.json", "OUTPUT_CONFLICT", /^--hdr-log .*r\.json is where --report goes$/],
  ["a folder", "sub", "OUTPUT_FAILED", /it is a folder$/],
])("refuses to write a log over %s, by the flag that asks for it", async (_, name, code, message) => {
  const { folder, model } = folderWithModel();
  const report = { flag: "--report", path: join(folder, "sub/../r.json") };
  const fault = await faultOf(() => checkPlace({ flag: "--hdr-log", path: join(folder, name) }, [model], [report]));
  expect(fault).toMatchObject({ code, message: expect.stringMatching(message) });
  // Of commands that change a model.
  expect(fault.hint).not.toContain("--in-place");
});

it("refuses standard output for what is written besides", async () => {
  const fault = await faultOf(() => checkPlace({ flag: "--hdr-log", path: "-" }, []));
  expect(fault).toMatchObject({ code: "FLAG_INVALID", message: expect.stringMatching(/^--hdr-log - is no file/) });
});

it("names --in-place only where there is such a flag", async () => {
  const { model } = folderWithModel();
  const hints = [
    await faultOf(() => modelOutput(model, { output: model, inPlace: false })),
    await faultOf(() => requiredOutput({ output: model }, [model])),
  ].map(({ hint }) => hint?.includes("--in-place"));
  expect(hints).toEqual([true, false]);
});
