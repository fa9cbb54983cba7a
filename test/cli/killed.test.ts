/** Ctrl-C, polite and impolite kills, of the command and of the process that runs the models. */
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CLASSIFIER, classifier, images, modelBytes } from "../support/odd-files.js";
import { childrenOf, parentOf } from "../support/processes.js";
import { digits, digitsModel } from "../support/real-run.js";
import { type Ended, expectFault, type Scene, scene, spawnCommand } from "../support/scene.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** Samples enough that calibrating, scoring and timing are still under way when a signal arrives. */
const SAMPLES = 20_000;
let data: Buffer | null = null;
const stageWithData = (): Scene => {
  data ??= images(SAMPLES);
  return scene({ "model.onnx": modelBytes(CLASSIFIER), "d.npz": data });
};

const commands = {
  calibrate: ["calibrate", "model.onnx", "--calibration", "d.npz", "-o", "out.onnx"],
  verify: ["verify", "model.onnx", "model.onnx", "--eval", "d.npz"],
  bench: ["bench", "model.onnx", "model.onnx", "--budget", "60s"],
  // For size: with speed as the goal, a busy machine may find that nothing pays, and ends before the models run.
  quantize: [
    ...["quantize", "model.onnx", "-o", "out.onnx", "--calibration", "d.npz", "--mode", "static", "--goal", "size"],
  ],
} as const;

/** What the same command goes on from. */
const forTheNextRun: Partial<Record<keyof typeof commands, readonly string[]>> = {
  calibrate: ["out.onnx.partial"],
  quantize: ["out.onnx.journal.jsonl"],
};

/** Calls once, when the stage has begun. */
const atStage = (stage: string, action: (child: ChildProcess) => void) => {
  let done = false;
  return (stderr: string, child: ChildProcess): void => {
    if (done || !new RegExp(`^\\[.*\\] ${stage}\\b`, "m").test(stderr)) return;
    done = true;
    action(child);
  };
};

const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    // It ended by itself meanwhile.
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause;
  }
};

describe.skipIf(process.platform === "win32")("an interrupt", () => {
  const cases: [signal: NodeJS.Signals, command: keyof typeof commands, stage: string][] = [
    ["SIGINT", "calibrate", "load"],
    ["SIGINT", "calibrate", "calibrate"],
    ["SIGTERM", "calibrate", "calibrate"],
    ["SIGINT", "verify", "verify"],
    ["SIGTERM", "verify", "load"],
    ["SIGINT", "bench", "bench"],
    ["SIGTERM", "bench", "bench"],
    ["SIGHUP", "quantize", "calibrate"],
    ["SIGINT", "quantize", "bench"],
  ];
  it.each(cases)(
    "by %s stops %s at %s with 130 and leaves nothing but what the next run goes on from",
    async (signal, command, stage) => {
      const here = stageWithData();
      await here.refuses(commands[command], [130, "INTERRUPTED"], {
        onStderr: atStage(stage, (child) => child.kill(signal)),
        mayLeave: forTheNextRun[command] ?? [],
      });
    },
  );

  it("twice ends at once", async () => {
    const here = stageWithData();
    const ended = await here.run(commands.bench, {
      onStderr: atStage("bench", (child) => {
        child.kill("SIGINT");
        child.kill("SIGINT");
      }),
    });
    expect(ended.code).toBe(130);
    here.expectUntouched();
  });
});

describe.skipIf(process.platform !== "linux")("the process that runs the models, killed", () => {
  const cases: [signal: NodeJS.Signals, command: keyof typeof commands, stage: string][] = [
    ["SIGKILL", "calibrate", "calibrate"],
    ["SIGSEGV", "calibrate", "calibrate"],
    ["SIGKILL", "verify", "verify"],
    ["SIGSEGV", "bench", "bench"],
    ["SIGKILL", "quantize", "bench"],
  ];
  it.each(cases)("by %s in %s at %s, costs the run, with 4, and nothing else", async (signal, command, stage) => {
    const here = stageWithData();
    // One that is idle is replaced without a word: they are killed until one was at work.
    let killing: NodeJS.Timeout | undefined;
    try {
      await here.refuses(commands[command], [4, "RUNTIME_CRASHED", signal], {
        mayLeave: forTheNextRun[command] ?? [],
        onStderr: atStage(stage, (child) => {
          killing = setInterval(() => {
            for (const pid of childrenOf(child.pid!)) kill(pid, signal);
          }, 100);
        }),
      });
    } finally {
      clearInterval(killing);
    }
  });
});

it.skipIf(process.platform !== "linux")(
  "the command killed outright leaves no process and the older file whole",
  async () => {
    const here = stageWithData();
    const before = readFileSync(`${here.folder}/out.onnx`);
    let orphans: number[] = [];
    const { child, ended } = spawnCommand(commands.quantize, here.folder, {
      env: { INFER_OPT_TMP: here.scratch },
      onStderr: atStage("calibrate", () => {
        const look = setInterval(() => {
          orphans = childrenOf(child.pid!);
          if (orphans.length === 0) return;
          clearInterval(look);
          child.kill("SIGKILL");
        }, 20);
      }),
    });
    await ended;
    expect(child.signalCode).toBe("SIGKILL");
    expect(orphans.length).toBeGreaterThan(0);
    await expect.poll(() => orphans.filter((pid) => parentOf(pid) !== null), { timeout: 10_000 }).toEqual([]);
    expect(readFileSync(`${here.folder}/out.onnx`)).toEqual(before);
    expect(readdirSync(here.folder).sort()).toEqual(["d.npz", "model.onnx", "out.onnx"]);
    // Nobody was left to remove it.
    rmSync(here.scratch, { recursive: true, force: true });
  },
);

describe.skipIf(process.platform !== "linux")("a search that is cut short", () => {
  const search = [
    ...["quantize", "model.onnx", "-o", "out.onnx", "--calibration", "d.npz"],
    ...["--mode", "static", "--goal", "size", "--max-drop", "5%", "--threads", "1"],
  ];
  const leftovers = ["out.best.onnx", "out.onnx.journal.jsonl"];
  /** What the best candidate is measured for has been measured by then. */
  const atRace = (action: (child: ChildProcess) => void) => atStage("bench: int8", action);
  const stage = (): Scene => scene({ "model.onnx": classifier(), "d.npz": images(1500) });
  /** Accuracy is told as soon as it is measured, and again with the time that the race finds. */
  const measuresAccuracy = ({ stderr }: Ended): boolean =>
    /\] {3}int8 .*accuracy/.test(stderr.split("] bench: int8")[0]!);
  const measures = (folder: string): string[] =>
    readFileSync(`${folder}/out.onnx.journal.jsonl`, "utf8")
      .split("\n")
      .slice(1, -1)
      .map((line) => JSON.parse(line).measure);

  it("by kill -9 leaves what it measured and the best file, and the same command goes on to what an undisturbed one gives", async () => {
    const here = stage();
    const older = readFileSync(`${here.folder}/out.onnx`);
    const killed = await here.run(search, { onStderr: atRace((child) => child.kill("SIGKILL")) });
    expect(killed.code).toBeNull();
    expect(readFileSync(`${here.folder}/out.onnx`)).toEqual(older);
    expect(measures(here.folder)).toEqual(expect.arrayContaining(["error", "accuracy"]));
    const best = readFileSync(`${here.folder}/out.best.onnx`);

    const resumed = await here.run(search);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(measuresAccuracy(killed)).toBe(true);
    expect(measuresAccuracy(resumed)).toBe(false);
    expect(resumed.stderr).toMatch(/goes on with what an interrupted run measured.*out\.onnx\.journal\.jsonl/);
    expect(resumed.stderr).not.toMatch(/begun anew|damaged/);
    expect(readdirSync(here.folder).sort()).toEqual(["d.npz", "model.onnx", "out.onnx"]);
    const output = readFileSync(`${here.folder}/out.onnx`);
    expect(output.length).toBeLessThan(older.length + readFileSync(`${here.folder}/model.onnx`).length);
    expect(best.length).toBeGreaterThan(0);

    const whole = await here.run(search);
    expect(measuresAccuracy(whole)).toBe(true);
    expect(readFileSync(`${here.folder}/out.onnx`)).toEqual(output);
    rmSync(here.scratch, { recursive: true, force: true });
  });

  it("by Ctrl-C says where both are; other data makes it begin anew, with a warning", async () => {
    const here = stage();
    const interrupted = await here.run(search, { onStderr: atRace((child) => child.kill("SIGINT")) });
    expectFault(interrupted, [130, "INTERRUPTED", ...leftovers.map((name) => name)]);
    expect(readdirSync(here.folder).sort()).toEqual(["d.npz", "model.onnx", ...leftovers, "out.onnx"].sort());
    expect(readdirSync(here.scratch)).toEqual([]);

    writeFileSync(`${here.folder}/d.npz`, images(1200));
    const anew = await here.run(search);
    expect(anew.code, anew.stderr).toBe(0);
    expect(anew.stderr).toContain("another model, other data or other options");
    expect(measuresAccuracy(anew)).toBe(true);
    expect(anew.stderr).toContain("out.best.onnx is there already and stays");
  });
});

describe.skipIf(process.platform !== "linux")("pruning that is cut short", () => {
  const search = [
    ...["prune", "model.onnx", "-o", "out.onnx", "--calibration", "d.npz", "--keep-ratio", "0.5"],
    ...["--include", "/stage1/*", "--max-drop", "none", "--budget", "20s", "--threads", "1", "--keep-rejected"],
  ];
  const stage = async (): Promise<Scene> => {
    const data = await digits(temporaryFolder(), 60);
    return scene({ "model.onnx": readFileSync(digitsModel), "d.npz": readFileSync(data) });
  };
  /** How fast it is, noise may hide: the net is the same. */
  const delivered = (folder: string): Buffer =>
    readFileSync(`${folder}/${existsSync(`${folder}/out.rejected.onnx`) ? "out.rejected.onnx" : "out.onnx"}`);
  const begin = async (): Promise<Scene> => {
    const here = await stage();
    rmSync(`${here.folder}/out.onnx`, { force: true });
    return here;
  };

  const atRace = (signal: NodeJS.Signals) => atStage("bench: keep 0.5", (child) => child.kill(signal));

  it("by kill -9 goes on to the same file, without ranking units and fitting layers again", async () => {
    const here = await begin();
    const killed = await here.run(search, { onStderr: atRace("SIGKILL") });
    expect(killed.code).toBeNull();
    expect(readdirSync(here.folder)).toContain("out.onnx.journal.jsonl");

    const resumed = await here.run(search);
    expect(resumed.stderr).not.toMatch(/\] calibrate/);
    expect(readdirSync(here.folder).filter((name) => /journal|best/.test(name))).toEqual([]);
    const output = delivered(here.folder);

    const apart = await begin();
    const whole = await apart.run(search);
    expect(whole.stderr).toMatch(/\] calibrate/);
    // Not toEqual: the difference of two such files takes minutes to print.
    expect(delivered(apart.folder).equals(output)).toBe(true);
    for (const each of [here, apart]) rmSync(each.scratch, { recursive: true, force: true });
  }, 240_000);

  it("by Ctrl-C says where its journal is", async () => {
    const here = await begin();
    const interrupted = await here.run(search, { onStderr: atRace("SIGINT") });
    expectFault(interrupted, [130, "INTERRUPTED", "out.onnx.journal.jsonl"]);
    expect(existsSync(`${here.folder}/out.onnx`)).toBe(false);
    expect(readdirSync(here.scratch)).toEqual([]);
  }, 240_000);
});
