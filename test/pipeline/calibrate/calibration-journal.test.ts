import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { parseModel, saveModel } from "../../../src/ir/index.js";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import { outputFailed } from "../../../src/onnx/index.js";
import { runCalibrate } from "../../../src/pipeline/calibrate/calibrate.js";
import { CalibrationJournal } from "../../../src/pipeline/calibrate/calibration-journal.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { ObserveJob, Runtime } from "../../../src/runtime/port.js";
import { digits, digitsModel, fuseConfig, realContext } from "../../support/real-run.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const runtime = ortRuntime();
afterAll(() => runtime.close());

/** The runtime, whose process is lost when it is asked to observe for the `n`-th time. */
const lostAt = (n: number): Runtime => ({
  ...runtime,
  observe: (job: ObserveJob) =>
    --n < 0
      ? Promise.reject(new InferOptError("INTERRUPTED", "interrupted", "stop", { hint: "" }))
      : runtime.observe(job),
});

describe("CalibrationJournal", () => {
  const tap = newTap("a");
  observeTensor(tap, Float32Array.of(1, -2, 3));
  const state = { done: 4, taps: new Map([["a", tap]]) };

  it("gives back what was written, to whom it belongs", () => {
    const output = join(temporaryFolder(), "r.json");
    const journal = new CalibrationJournal(output, "this");
    expect(journal.read()).toBe("none");
    journal.write(state);
    expect(journal.read()).toEqual(state);
    expect(new CalibrationJournal(output, "other").read()).toBe("foreign");
    journal.remove();
    expect(journal.read()).toBe("none");
  });

  it.each(["{", "null", '{"identity":"this"}', '{"identity":"this","done":1,"taps":[{"name":"a"}]}'])(
    "takes nothing from %s",
    (text) => {
      const journal = new CalibrationJournal(join(temporaryFolder(), "r.json"), "this");
      writeFileSync(journal.path, text);
      expect(journal.read()).toBe(text === "null" ? "foreign" : "unreadable");
    },
  );
});

describe("a calibration journal that was changed", () => {
  it.each([
    ["fewer samples than none", { done: -5 }],
    ["more samples than there are", { done: 1e9 }],
    ["a sample too many", { done: 5 }],
    ["no tensors", { taps: [] }],
  ])("is not believed: %s", (_, changed) => {
    const tap = newTap("a");
    observeTensor(tap, Float32Array.of(1, -2, 3));
    const journal = new CalibrationJournal(join(temporaryFolder(), "r.json"), "this");
    journal.write({ done: 4, taps: new Map([["a", tap]]) });
    writeFileSync(journal.path, JSON.stringify({ ...JSON.parse(readFileSync(journal.path, "utf8")), ...changed }));
    expect(journal.read()).toBe("unreadable");
  });
});

describe("calibrate, interrupted", () => {
  it("goes on where it was, to the same file", async () => {
    const folder = temporaryFolder();
    const calibration = await digits(folder, 40);
    const output = join(folder, "ranges.json");
    const config = {
      ...fuseConfig(digitsModel, output, { data: { calibration, eval: null, metric: null } }),
      shard: null,
    };
    const whole = join(folder, "whole.json");
    const atOnce = await runCalibrate({ ...config, out: { ...config.out, output: whole } }, realContext(runtime));
    expect(atOnce.warnings.join()).not.toContain("observed");

    await expect(runCalibrate(config, realContext(lostAt(1)))).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect(existsSync(output)).toBe(false);
    const resumed = await runCalibrate(config, realContext(runtime));
    expect(resumed.warnings.join()).toContain("16 of 40 samples were observed before");
    expect(readFileSync(output, "utf8")).toBe(readFileSync(whole, "utf8"));
    expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  it("says where what was seen is kept", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "ranges.json");
    const data = { calibration: await digits(folder, 40), eval: null, metric: null };
    const config = { ...fuseConfig(digitsModel, output, { data }), shard: null };
    const live = new AbortController();
    const lost = lostAt(1);
    let calls = 0;
    const observe = (job: ObserveJob) => {
      if (calls++ === 1) live.abort();
      return lost.observe(job);
    };
    const run = runCalibrate(config, { ...realContext({ ...lost, observe }), signal: live.signal });
    await expect(run).rejects.toMatchObject({
      code: "INTERRUPTED",
      hint: expect.stringContaining(`${output}.partial holds what was seen of 16 samples`),
    });
  });

  it("goes on without one that there is no room for, and says so", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "ranges.json");
    const data = { calibration: await digits(folder, 40), eval: null, metric: null };
    const write = vi.spyOn(CalibrationJournal.prototype, "write").mockImplementation(function (
      this: CalibrationJournal,
    ) {
      throw outputFailed(this.path, Object.assign(new Error("full"), { code: "ENOSPC" }));
    });
    try {
      const config = { ...fuseConfig(digitsModel, output, { data }), shard: null };
      const { warnings } = await runCalibrate(config, realContext(runtime));
      expect(warnings.filter((warning) => warning.includes("starts over"))).toHaveLength(1);
      expect(write).toHaveBeenCalledTimes(1);
      expect(existsSync(output)).toBe(true);
    } finally {
      write.mockRestore();
    }
  });

  it.each([
    ["EIO", true],
    ["ENOSPC", false],
  ])("keeps what was written last unless its room is wanted: %s", async (code, isLeft) => {
    const folder = temporaryFolder();
    const output = join(folder, "ranges.json");
    const journal = `${output}.partial`;
    const data = { calibration: await digits(folder, 60), eval: null, metric: null };
    const original = CalibrationJournal.prototype.write;
    const lying: boolean[] = [];
    const write = vi.spyOn(CalibrationJournal.prototype, "write").mockImplementation(function (
      this: CalibrationJournal,
      state,
    ) {
      if (write.mock.calls.length === 1) return original.call(this, state);
      throw outputFailed(this.path, Object.assign(new Error("no"), { code }));
    });
    const remove = vi.spyOn(CalibrationJournal.prototype, "remove").mockImplementation(function (
      this: CalibrationJournal,
    ) {
      lying.push(existsSync(journal));
      rmSync(this.path, { force: true });
    });
    try {
      const config = { ...fuseConfig(digitsModel, output, { data }), shard: null };
      const { warnings } = await runCalibrate(config, realContext(runtime));
      expect(warnings.filter((warning) => warning.includes("starts over"))).toHaveLength(1);
      expect(write).toHaveBeenCalledTimes(2);
      // At the end it goes in any case.
      expect(lying.at(-1)).toBe(isLeft);
      expect(existsSync(journal)).toBe(false);
    } finally {
      write.mockRestore();
      remove.mockRestore();
    }
  });

  it("starts afresh with other data, and says so", async () => {
    const folder = temporaryFolder();
    const output = join(folder, "ranges.json");
    const configOf = (calibration: string) => ({
      ...fuseConfig(digitsModel, output, { data: { calibration, eval: null, metric: null } }),
      shard: null,
    });
    const first = configOf(await digits(folder, 20));
    await expect(runCalibrate(first, realContext(lostAt(1)))).rejects.toMatchObject({ code: "INTERRUPTED" });
    const second = await runCalibrate(configOf(await digits(folder, 20, 100)), realContext(runtime));
    expect(second.warnings.join()).toContain("all samples are observed anew");
    expect(JSON.parse(readFileSync(output, "utf8")).parts).toMatchObject([{ samples: 20 }]);
  });
});

describe("samples of many sizes", () => {
  it("are observed from the largest down, to the same ranges", async () => {
    const folder = temporaryFolder();
    const model = join(folder, "m.onnx");
    saveModel(parseModel("(x: f32[N,4]) -> (y) { y = MatMul(x, $w: f32[4,4]) }"), model).commit();
    const rowsOf = (s: number) => Array.from({ length: 1 + ((7 * s) % 5) }, (_, i) => [s, i, -s, s / 3]);
    const lines = Array.from({ length: 20 }, (_, s) => JSON.stringify({ x: rowsOf(s) }));
    const [mixed, sorted] = [join(folder, "mixed.jsonl"), join(folder, "sorted.jsonl")];
    writeFileSync(mixed, lines.join("\n"));
    writeFileSync(sorted, [...lines].sort((a, b) => b.length - a.length).join("\n"));
    const seen: number[][] = [];
    const observe = (job: ObserveJob) => {
      seen.push(job.data.indices!.map((index) => rowsOf(index).length));
      return runtime.observe(job);
    };
    const rangesOf = async (calibration: string, output: string, context = realContext(runtime)) => {
      const config = fuseConfig(model, join(folder, output), { data: { calibration, eval: null, metric: null } });
      await runCalibrate({ ...config, shard: null }, context);
      return (JSON.parse(readFileSync(join(folder, output), "utf8")) as { taps: unknown }).taps;
    };
    const ranges = await rangesOf(mixed, "a.json", realContext({ ...runtime, observe }));
    expect(seen.map((sizes) => sizes.length)).toEqual([16, 4]);
    for (const sizes of seen) expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(ranges).toBeDefined();
    expect(await rangesOf(sorted, "b.json")).toEqual(ranges);
  });
});
