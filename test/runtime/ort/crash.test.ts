import { describe, expect, it } from "vitest";
import { Tensor } from "../../../src/ir/index.js";
import { counting, FOREVER, jsonl, scaling, session, startRuntime } from "./workbench.js";

const forever = new Map([["n", Tensor.scalar("i64", FOREVER)]]);
const feeds = new Map([["x", Tensor.f32([1, 2], [1, 2])]]);

/** Starts an endless run and calls back when the first sample is done, so that the second is under way. */
function endless(runtime: ReturnType<typeof startRuntime>, underWay: () => void): Promise<unknown> {
  const data = jsonl({ n: 1 }, { n: FOREVER });
  return runtime.observe({
    model: counting(),
    data: { path: data },
    taps: ["y"],
    session,
    onProgress: (done) => done === 1 && underWay(),
  });
}

describe("a child that dies", () => {
  it.each(["SIGSEGV", "SIGKILL", "SIGTERM"] as const)(
    "of %s is a coded error, and the next job works",
    async (signal) => {
      const runtime = startRuntime();
      const job = endless(runtime, () => process.kill(runtime.pids()[0]!, signal));
      await expect(job).rejects.toMatchObject({
        code: "RUNTIME_CRASHED",
        kind: "runtime",
        message: `ONNX Runtime crashed while watching the values of model.onnx (signal ${signal})`,
        fields: { job: "observe", model: expect.stringMatching(/model\.onnx$/), signal, output: expect.any(String) },
      });
      const outputs = await runtime.run(scaling(2), feeds, session);
      expect([...outputs.get("y")!.f32()]).toEqual([2, 4]);
    },
  );

  it.each([
    ["cpu", "all", /^The model hits a bug of the runtime: try another version of it\. Where it opens with a lower/],
    ["cpu", "disabled", /^The model hits a bug of the runtime: try another version of it\.$/],
    ["webgpu", "all", /^Try --provider cpu;/],
  ] as const)("on %s, optimized %s, leaves advice that can be followed", async (provider, optimization, hint) => {
    const runtime = startRuntime();
    const job = runtime.run(scaling(2), feeds, { ...session, provider, optimization });
    while (runtime.pids().length === 0) await new Promise((resolve) => setImmediate(resolve));
    process.kill(runtime.pids()[0]!, "SIGSEGV");
    await expect(job).rejects.toMatchObject({ code: "RUNTIME_CRASHED", hint: expect.stringMatching(hint) });
  });

  it.each(["SIGINT", "SIGHUP"] as const)(
    "of %s as it starts is an interrupt, whichever process hears of it first",
    async (signal) => {
      const runtime = startRuntime();
      const job = runtime.run(scaling(2), feeds, session);
      while (runtime.pids().length === 0) await new Promise((resolve) => setImmediate(resolve));
      process.kill(runtime.pids()[0]!, signal);
      await expect(job).rejects.toMatchObject({ code: "INTERRUPTED", kind: "interrupted" });
    },
  );

  it("of a SIGTERM that the parent hears of a moment later is an interrupt", async () => {
    const stop = new AbortController();
    const runtime = startRuntime({ signal: stop.signal });
    const job = endless(runtime, () => {
      process.kill(runtime.pids()[0]!, "SIGTERM");
      setTimeout(() => stop.abort(), 50);
    });
    await expect(job).rejects.toMatchObject({ code: "INTERRUPTED", kind: "interrupted" });
  });

  it("between jobs is not noticed", async () => {
    const runtime = startRuntime();
    await runtime.run(scaling(2), feeds, session);
    const [pid] = runtime.pids();
    process.kill(pid!, "SIGKILL");
    while (runtime.pids().includes(pid!)) await new Promise((resolve) => setImmediate(resolve));
    const outputs = await runtime.run(scaling(3), feeds, session);
    expect([...outputs.get("y")!.f32()]).toEqual([3, 6]);
  });

  it("of a SIGTERM between jobs is not taken for the end of the next one", async () => {
    const runtime = startRuntime();
    await runtime.run(scaling(2), feeds, session);
    const [pid] = runtime.pids();
    process.kill(pid!, "SIGTERM");
    while (runtime.pids().includes(pid!)) await new Promise((resolve) => setImmediate(resolve));
    const job = runtime.run(counting(), forever, { ...session, timeoutMs: 600 });
    await expect(job).rejects.toMatchObject({ code: "RUNTIME_TIMEOUT" });
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("of %s between the runs of a timer ends that", async (signal) => {
    const runtime = startRuntime();
    const timer = await runtime.timer({ model: scaling(1), data: { path: jsonl({ x: [[1, 2]] }) }, session });
    await timer.measure(1);
    const [pid] = runtime.pids();
    process.kill(pid!, signal);
    while (runtime.pids().includes(pid!)) await new Promise((resolve) => setImmediate(resolve));
    await expect(timer.measure(1)).rejects.toMatchObject({ code: "RUNTIME_CRASHED", fields: { signal } });
    expect(runtime.pids()).toEqual([]);
  });

  it("ends a timer for good", async () => {
    const runtime = startRuntime();
    const timer = await runtime.timer({ model: scaling(1), data: { path: jsonl({ x: [[1, 2]] }) }, session });
    const measured = timer.measure(1e9);
    process.kill(runtime.pids()[0]!, "SIGKILL");
    await expect(measured).rejects.toMatchObject({ code: "RUNTIME_CRASHED" });
    await expect(timer.measure(1)).rejects.toMatchObject({ code: "RUNTIME_CRASHED" });
  });
});

describe("a job that hangs", () => {
  it("is stopped after its time, and the next job works", async () => {
    const runtime = startRuntime();
    await expect(runtime.run(counting(), forever, { ...session, timeoutMs: 300 })).rejects.toMatchObject({
      code: "RUNTIME_TIMEOUT",
      message: "running model.onnx was silent for 0.3 s and was stopped",
      fields: { timeoutMs: 300 },
    });
    expect((await runtime.run(scaling(2), feeds, session)).size).toBe(1);
  });

  it("is stopped sooner where it takes many times as long as what it is compared with", async () => {
    const runtime = startRuntime();
    const data = { path: jsonl({ n: 1 }) };
    const patience = { leastMs: 200, factor: 1 };
    const compared = { baseline: counting(), data, session: { ...session, timeoutMs: 60_000 }, patience };
    await expect(runtime.compare({ ...compared, candidate: counting(FOREVER) })).rejects.toMatchObject({
      code: "RUNTIME_TIMEOUT",
      fields: { isOverdue: true },
    });
    const patient = { ...compared, patience: { leastMs: 60_000, factor: 1 } };
    expect(await runtime.compare({ ...patient, candidate: counting() })).toHaveLength(1);
  });

  it("does not stop the event loop of the caller", async () => {
    const stop = new AbortController();
    const runtime = startRuntime({ signal: stop.signal });
    let ticks = 0;
    const job = endless(runtime, () => {
      const ticking = setInterval(() => {
        if (++ticks < 20) return;
        clearInterval(ticking);
        stop.abort();
      }, 1);
    });
    await expect(job).rejects.toMatchObject({ kind: "interrupted" });
    expect(ticks).toBe(20);
  });
});

describe("an abort", () => {
  it("ends what runs and what waits, and every later job", async () => {
    const stop = new AbortController();
    const runtime = startRuntime({ signal: stop.signal });
    const running = endless(runtime, () => stop.abort());
    const waiting = runtime.run(scaling(1), feeds, session);
    await expect(running).rejects.toMatchObject({ code: "INTERRUPTED", kind: "interrupted" });
    await expect(waiting).rejects.toMatchObject({ kind: "interrupted" });
    await expect(runtime.run(scaling(1), feeds, session)).rejects.toMatchObject({ kind: "interrupted" });
    expect(runtime.pids()).toEqual([]);
  });

  it("that came before is respected", async () => {
    const runtime = startRuntime({ signal: AbortSignal.abort() });
    await expect(runtime.run(scaling(1), feeds, session)).rejects.toMatchObject({ kind: "interrupted" });
  });

  it("ends timers too", async () => {
    const stop = new AbortController();
    const runtime = startRuntime({ signal: stop.signal });
    const timer = await runtime.timer({ model: scaling(1), data: { path: jsonl({ x: [[1, 2]] }) }, session });
    stop.abort();
    await expect(timer.measure(1)).rejects.toMatchObject({ kind: "interrupted" });
  });
});

describe("close", () => {
  it("leaves no process behind", async () => {
    const runtime = startRuntime();
    await runtime.run(scaling(1), feeds, session);
    const [pid] = runtime.pids();
    await runtime.close();
    expect(() => process.kill(pid!, 0)).toThrow("ESRCH");
  });
});
