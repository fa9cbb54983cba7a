/** Places that cannot be written, readers that leave, disks that are full, tried with the command itself. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseModel, saveModel } from "../../src/ir/index.js";
import { classifier, images, modelBytes } from "../support/odd-files.js";
import { expectFault, type Fault, scene, spawnCommand } from "../support/scene.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const isRoot = process.getuid?.() === 0;
const inPlace = (model: string): readonly string[] => [
  "quantize",
  model,
  "--in-place",
  "--keep-rejected",
  "--calibration",
  "d.npz",
];
const files = () => ({ "model.onnx": classifier(), "d.npz": images(3) });

describe("an output is refused:", () => {
  const cases: Record<string, [readonly string[], Fault, ((folder: string) => void)?]> = {
    "the input": [
      ["fuse", "model.onnx", "-o", "./model.onnx"],
      [2, "OUTPUT_IS_INPUT", "model.onnx"],
    ],
    "the input behind a link": [
      ["fuse", "model.onnx", "-o", "link.onnx"],
      [2, "OUTPUT_IS_INPUT", "link.onnx"],
      (folder) => symlinkSync("model.onnx", join(folder, "link.onnx")),
    ],
    "the calibration data": [
      ["calibrate", "model.onnx", "--calibration", "d.npz", "-o", "d.npz"],
      [2, "OUTPUT_IS_INPUT", "d.npz"],
    ],
    "the model to judge against": [
      ["quantize", "model.onnx", "-o", "base.onnx", "--baseline", "base.onnx", "--calibration", "d.npz"],
      [2, "OUTPUT_IS_INPUT", "base.onnx"],
      (folder) => copyFileSync(join(folder, "model.onnx"), join(folder, "base.onnx")),
    ],
    "a candidate that is kept, in the place of the input": [
      ["quantize", "net.rejected.onnx", "-o", "net.onnx", "--keep-rejected", "--calibration", "d.npz"],
      [2, "OUTPUT_IS_INPUT", "net.rejected.onnx"],
      (folder) => copyFileSync(join(folder, "model.onnx"), join(folder, "net.rejected.onnx")),
    ],
    "a candidate that is kept, in the place of a link to the input": [
      ["prune", "model.onnx", "--in-place", "--keep-rejected", "--calibration", "d.npz"],
      [2, "OUTPUT_IS_INPUT", "model.rejected.onnx"],
      (folder) => symlinkSync("model.onnx", join(folder, "model.rejected.onnx")),
    ],
    "a candidate that is kept, in the place of the model to judge against": [
      [...inPlace("model.onnx"), "--baseline", "model.rejected.onnx"],
      [2, "OUTPUT_IS_INPUT", "model.rejected.onnx"],
      (folder) => copyFileSync(join(folder, "model.onnx"), join(folder, "model.rejected.onnx")),
    ],
    "a candidate that is kept beside what a link points to, in the place of the model to judge against": [
      [...inPlace("link.onnx"), "--baseline", "model.rejected.onnx"],
      [2, "OUTPUT_IS_INPUT", "model.rejected.onnx"],
      (folder) => {
        symlinkSync("model.onnx", join(folder, "link.onnx"));
        copyFileSync(join(folder, "model.onnx"), join(folder, "model.rejected.onnx"));
      },
    ],
    "the weights of the input": [
      ["fuse", "beside.onnx", "-o", "weights.bin"],
      [2, "OUTPUT_IS_INPUT", "weights.bin"],
      (folder) => {
        const model = parseModel("(x: f32[600]) -> (y) { y = Mul(x, $w: f32[600]) }");
        saveModel(model, join(folder, "beside.onnx"), { externalData: true }).commit();
        const data = readdirSync(folder).find((name) => name.endsWith(".data"))!;
        symlinkSync(data, join(folder, "weights.bin"));
      },
    ],
    "in a folder that is not there": [
      ["quantize", "model.onnx", "-o", "gone/out.onnx", "--calibration", "d.npz"],
      [3, "OUTPUT_FAILED", "gone/out.onnx"],
    ],
    "below a file": [
      ["fp16", "model.onnx", "-o", "d.npz/out.onnx"],
      [3, "OUTPUT_FAILED", "d.npz/out.onnx"],
    ],
    "a folder": [
      ["fold", "model.onnx", "-o", "dir"],
      [3, "OUTPUT_FAILED", "dir"],
      (folder) => mkdirSync(join(folder, "dir")),
    ],
    "a pipe": [
      ["quantize", "model.onnx", "-o", "pipe", "--calibration", "d.npz"],
      [3, "OUTPUT_FAILED", "pipe", "not a regular file"],
      (folder) => execFileSync("mkfifo", [join(folder, "pipe")]),
    ],
    "a pipe, of ranges": [
      ["calibrate", "model.onnx", "--calibration", "d.npz", "-o", "pipe"],
      [3, "OUTPUT_FAILED", "pipe", "not a regular file"],
      (folder) => execFileSync("mkfifo", [join(folder, "pipe")]),
    ],
    "no output": [
      ["fuse", "model.onnx"],
      [2, "OUTPUT_MISSING"],
    ],
    "a name that is too long": [
      ["fuse", "model.onnx", "-o", `${"n".repeat(300)}.onnx`],
      [3, "OUTPUT_FAILED", "too long"],
    ],
    "a report in a folder that is not there": [
      ["fuse", "model.onnx", "-o", "out.onnx", "--report", "gone/r.json"],
      [3, "OUTPUT_FAILED", "gone/r.json"],
    ],
    "a scratch folder that is not there": [
      ["fuse", "model.onnx", "-o", "out.onnx"],
      [4, "SCRATCH_FAILED", "/gone/tmp"],
    ],
  };
  for (const [name, [argv, fault, prepare]] of Object.entries(cases)) {
    it(name, async () => {
      const stage = scene(files());
      prepare?.(stage.folder);
      await stage.refuses(argv, fault, name.startsWith("a scratch") ? { env: { INFER_OPT_TMP: "/gone/tmp" } } : {});
    });
  }

  it.skipIf(isRoot)("a folder that is closed (skipped for root, whom nothing is closed to)", async () => {
    const stage = scene(files());
    mkdirSync(join(stage.folder, "closed"));
    chmodSync(join(stage.folder, "closed"), 0o555);
    await stage.refuses(["fuse", "model.onnx", "-o", "closed/out.onnx"], [3, "OUTPUT_FAILED", "closed"]);
  });

  it.skipIf(process.platform !== "linux")("a folder that the kernel keeps to itself", async () => {
    await scene(files()).refuses(
      ["fuse", "model.onnx", "-o", "/proc/out.onnx"],
      [3, "OUTPUT_FAILED", "/proc/out.onnx"],
    );
  });
});

/** A file system of 1 MB; null where none can be mounted. */
function smallDisk(): string | null {
  const folder = temporaryFolder();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  } catch (cause) {
    if (cause instanceof Error) return null;
    throw cause;
  }
  onTestFinished(() => void execFileSync("umount", ["-l", folder]));
  return folder;
}

describe.skipIf(process.platform !== "linux" || !isRoot)("a full disk (skipped unless root may mount one)", () => {
  /** 10.6 MB in one weight, which a fusion computes anew. */
  const large = () =>
    modelBytes("(x: f32[N,512]) -> (y) { h = MatMul(x, $w: f32[512,5200]) s = Mul(h, $f: f32[5200]) y = Relu(s) }");

  for (const [name, more] of [
    ["of the output", []],
    ["of the output, weights beside the model", ["--external-data"]],
  ] as const) {
    it(`${name} leaves what was there`, async (context) => {
      const disk = smallDisk();
      if (disk === null) return context.skip("nothing can be mounted here");
      const stage = scene({ "model.onnx": large() });
      const out = join(disk, "out.onnx");
      execFileSync("cp", [join(stage.folder, "out.onnx"), out]);
      await stage.refuses(["fuse", "model.onnx", "-o", out, ...more], [3, "OUTPUT_FAILED", out, "disk is full"]);
      expect(readdirSync(disk)).toEqual(["out.onnx"]);
      expect(readFileSync(out)).toEqual(readFileSync(join(stage.folder, "out.onnx")));
    });
  }

  for (const [name, argv] of [
    ["fuse", ["fuse", "model.onnx", "-o", "out.onnx"]],
    ["fp16", ["fp16", "model.onnx", "-o", "out.onnx"]],
    ["quantize", ["quantize", "model.onnx", "-o", "out.onnx", "--mode", "dynamic"]],
  ] as const) {
    it(`of the scratch folder stops ${name} and says which folder`, async (context) => {
      const disk = smallDisk();
      if (disk === null) return context.skip("nothing can be mounted here");
      const fault: Fault = [4, "SCRATCH_FAILED", disk, "INFER_OPT_TMP"];
      await scene({ "model.onnx": large() }).refuses(argv, fault, { env: { INFER_OPT_TMP: disk } });
      expect(readdirSync(disk)).toEqual([]);
    });
  }

  it("of a report and of ranges", async (context) => {
    const disk = smallDisk();
    if (disk === null) return context.skip("nothing can be mounted here");
    execFileSync("sh", ["-c", `head -c 2000000 /dev/zero > ${disk}/filler || true`], { stdio: "ignore" });
    const stage = scene(files());
    const calibrate = ["calibrate", "model.onnx", "--calibration", "d.npz", "-o", join(disk, "r.json")];
    await stage.refuses(calibrate, [3, "OUTPUT_FAILED", "r.json", "disk is full"]);
    // The answer is on stdout all the same, and what goes elsewhere is there.
    const timed = ["bench", "model.onnx", "--budget", "1s", "--hdr-log", "times.hlog"];
    const ended = await stage.run([...timed, "--report", join(disk, "report.json")]);
    expect(ended).toMatchObject({ code: 3, stdout: expect.stringContaining("model.onnx") });
    expect(ended.stderr).toContain("OUTPUT_FAILED");
    expect(readdirSync(stage.folder)).toContain("times.hlog");
    expect(readdirSync(disk)).toEqual(["filler"]);
  });
});

describe("standard streams", () => {
  it.skipIf(process.platform === "win32")("may be left by a reader", async () => {
    const stage = scene(files());
    for (const argv of [
      ["show", "model.onnx"],
      ["inspect", "model.onnx", "--json"],
    ]) {
      const { child, ended } = spawnCommand(argv, stage.folder, {});
      child.stdout!.destroy();
      expect(await ended).toMatchObject({ code: 0, stderr: "" });
    }
  });

  it.skipIf(process.platform === "win32")("may be closed from the start", async () => {
    const stage = scene(files());
    const script = `"$0" "$1" fuse model.onnx -o new.onnx <&- >&- 2>&-`;
    const code = await shell(script, stage.folder, stage.scratch);
    expect(code).toBe(0);
    expect(readdirSync(stage.folder)).toContain("new.onnx");
    expect(readdirSync(stage.scratch)).toEqual([]);
  });

  it.skipIf(process.platform !== "linux")("are told of when stdout is full", async () => {
    const stage = scene(files());
    let stderr = "";
    const code = await shell(`"$0" "$1" show model.onnx > /dev/full`, stage.folder, stage.scratch, (text) => {
      stderr += text;
    });
    expectFault({ code, stdout: "", stderr }, [3, "OUTPUT_FAILED", "standard output", "no space"]);
  });

  it.skipIf(process.platform !== "linux")("take no file along that was to be written besides", async () => {
    const stage = scene(files());
    const timed = "bench model.onnx --rate 40 --budget 1s --report r.html --hdr-log times.hlog";
    const code = await shell(`"$0" "$1" ${timed} > /dev/full`, stage.folder, stage.scratch);
    expect(code).toBe(3);
    expect(readdirSync(stage.folder)).toEqual(expect.arrayContaining(["r.html", "times.hlog"]));
  });
});

function shell(
  script: string,
  cwd: string,
  scratch: string,
  onStderr?: (text: string) => void,
): Promise<number | null> {
  const binary = new URL("../../bin/infer-opt.js", import.meta.url).pathname;
  const child = spawn("sh", ["-c", script, process.execPath, binary], {
    cwd,
    env: { ...process.env, INFER_OPT_TMP: scratch },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.on("data", (text: Buffer) => onStderr?.(text.toString()));
  return new Promise((resolve) => child.once("close", resolve));
}
