import { describe, expect, it, vi } from "vitest";
import { allowedProcessors, tasksetPath } from "../../../src/runtime/affinity.js";
import { expanding, jsonl, reshaping, scaling, session, startRuntime, writeFile } from "./workbench.js";

const data = () => ({ path: jsonl({ x: [[1, 2]] }, { x: [[3, 4]] }) });

describe("timer", () => {
  it("gives the time of each run, of loading and of the first run", async () => {
    const timer = await startRuntime().timer({ model: scaling(1), data: data(), session });
    const times = await timer.measure(5);
    expect([...times].map((time) => time > 0)).toEqual([true, true, true, true, true]);
    expect(timer.loadMs).toBeGreaterThan(0);
    expect(timer.firstRunMs).toBeGreaterThan(0);
    expect(await timer.peakRssBytes()).toBeGreaterThan(2 ** 20);
  });

  it("tells its start in parts, and the memory at each", async () => {
    const { start, loadMs, allowed } = await startRuntime().timer({ model: scaling(1), data: data(), session });
    const { processMs, runtimeMs, sessionMs, runtimeBytes, sessionBytes } = start;
    expect([processMs, runtimeMs, sessionMs].every((ms) => ms > 0)).toBe(true);
    expect(processMs + runtimeMs + sessionMs).toBeLessThanOrEqual(loadMs);
    expect(runtimeBytes).toBeGreaterThan(2 ** 24);
    expect(sessionBytes).toBeGreaterThan(runtimeBytes / 2);
    expect(allowed).toEqual([]);
  });

  it.runIf(tasksetPath() !== null)("stays on the processors that it is given, with every thread", async () => {
    const affinity = [allowedProcessors()!.at(-1)!];
    const timer = await startRuntime().timer({ model: scaling(1), data: data(), session: { ...session, affinity } });
    expect(timer.allowed.length).toBeGreaterThan(1);
    expect(new Set(timer.allowed.map((each) => each.join()))).toEqual(new Set([affinity.join()]));
    expect((await timer.measure(2)).length).toBe(2);
  });

  it.runIf(process.platform === "linux")("keeps at least the runtime's own threads there without taskset", async () => {
    vi.stubEnv("PATH", "/nowhere");
    const all = allowedProcessors()!;
    const affinity = [all.at(-1)!];
    const options = { ...session, threads: 3, affinity };
    const { allowed } = await startRuntime().timer({ model: scaling(1), data: data(), session: options });
    vi.unstubAllEnvs();
    const kept = allowed.filter((each) => each.join() === affinity.join());
    expect(kept).toHaveLength(all.length === 1 ? allowed.length : 2);
  });

  it("has a process of its own, which its end ends", async () => {
    const runtime = startRuntime();
    const first = await runtime.timer({ model: scaling(1), data: data(), session });
    const second = await runtime.timer({ model: scaling(2), data: data(), session });
    expect(new Set(runtime.pids()).size).toBe(2);
    await first.close();
    await second.close();
    expect(runtime.pids()).toEqual([]);
  });

  it("feeds the samples in turn", async () => {
    // Only the first of these can be reshaped to two elements.
    const path = jsonl(
      { x: [[1, 2]] },
      {
        x: [
          [1, 2],
          [3, 4],
        ],
      },
    );
    const timer = await startRuntime().timer({ model: reshaping(2), data: { path }, session });
    await expect(timer.measure(1)).rejects.toMatchObject({
      code: "RUN_FAILED",
      message: expect.stringContaining("sample 1"),
    });
  });

  it("gives memory back between runs", async () => {
    const timer = await startRuntime().timer({ model: expanding(2e6), data: data(), session });
    await timer.measure(3);
    const before = await timer.peakRssBytes();
    await timer.measure(60);
    // 60 outputs of 8 MB each.
    expect((await timer.peakRssBytes()) - before).toBeLessThan(100e6);
  });

  it("leaves no process when it cannot be opened", async () => {
    const runtime = startRuntime();
    const spec = { model: writeFile("a.onnx", "hello"), data: data(), session };
    await expect(runtime.timer(spec)).rejects.toMatchObject({ code: "MODEL_REJECTED" });
    expect(runtime.pids()).toEqual([]);
  });
});
