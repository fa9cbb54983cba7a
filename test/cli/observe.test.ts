import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchRun } from "../../src/cli/observe.js";
import { fakeIo } from "./fake-io.js";

const flags = { quiet: false, json: false };
const terminal = { stdout: true, stderr: true };

describe("lines", () => {
  let ms = 0;
  beforeEach(() => {
    ms = 0;
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());
  const now = (): number => ms;

  it("has one line for a stage, a candidate and a warning", async () => {
    const io = fakeIo();
    const { observer, stop } = await watchRun(io, flags, now);
    observer({ type: "stage", stage: "calibrate", detail: "64 samples" });
    ms = 1500;
    observer({ type: "progress", done: 3, total: 64 });
    observer({ type: "candidate", candidate: "int8", speedup: 2.137, accuracy: 0.99 });
    observer({ type: "warning", warning: "odd\u001b[2J" });
    stop();
    expect(io.stderr.text).toBe(
      "[   0.0 s] calibrate: 64 samples\n[   1.5 s]   int8  2.14x  accuracy 0.9900\n[   1.5 s] warning: odd\\x1b[2J\n",
    );
    expect(io.stdout.text).toBe("");
  });

  it("gives a sign of life when nothing was said for ten seconds, and none after the end", async () => {
    const io = fakeIo();
    const { observer, stop } = await watchRun(io, flags, now);
    observer({ type: "stage", stage: "bench" });
    observer({ type: "progress", done: 10, total: 200 });
    for (ms = 0; ms < 14_000; ms += 500) vi.advanceTimersByTime(500);
    expect(io.stderr.text).toMatch(/^\[ {3}0\.0 s\] bench\n\[ {2}1\d\.\d s\] bench 10 of 200\n$/);
    stop();
    const before = io.stderr.text;
    ms += 60_000;
    vi.advanceTimersByTime(60_000);
    expect(io.stderr.text).toBe(before);
  });

  it.each([
    ["json on a terminal", { isTTY: terminal }, { quiet: false, json: true }],
    ["CI on a terminal", { isTTY: terminal, env: { CI: "true" } }, flags],
    ["a dumb terminal", { isTTY: terminal, env: { TERM: "dumb" } }, flags],
  ])("are chosen for %s", async (_, parts, settings) => {
    const io = fakeIo(parts);
    const { observer, stop } = await watchRun(io, settings, now);
    observer({ type: "stage", stage: "load" });
    stop();
    expect(io.stderr.text).toBe("[   0.0 s] load\n");
  });
});

it("is silent with --quiet", async () => {
  const io = fakeIo({ isTTY: terminal });
  const { observer, stop } = await watchRun(io, { quiet: true, json: false }, () => 0);
  observer({ type: "stage", stage: "load" });
  observer({ type: "warning", warning: "odd" });
  stop();
  expect(io.stderr.text).toBe("");
});

it("draws on a terminal, with finished stages above and nothing on stdout", async () => {
  const io = fakeIo({ isTTY: terminal });
  let ms = 0;
  const { observer, stop } = await watchRun(io, flags, () => ms);
  observer({ type: "stage", stage: "calibrate" });
  observer({ type: "progress", done: 32, total: 64 });
  observer({ type: "warning", warning: "odd" });
  ms = 2000;
  observer({ type: "stage", stage: "bench" });
  observer({ type: "candidate", candidate: "int8", speedup: 2, accuracy: null });
  stop();
  expect(io.stderr.text).toMatch(/warning:.* odd/);
  expect(io.stderr.text).toContain(" calibrate  2.0 s");
  expect(io.stderr.text).toContain(" bench      0 ms");
  expect(io.stderr.text).toContain("2.00x  int8");
  expect(io.stdout.text).toBe("");
});

it("says on a terminal that an interrupt was heard, once", async () => {
  const io = fakeIo({ isTTY: terminal, env: { NO_COLOR: "1" } });
  const controller = new AbortController();
  const { observer, stop } = await watchRun(io, flags, () => 0, controller.signal);
  observer({ type: "stage", stage: "bench" });
  controller.abort();
  stop();
  expect(io.stderr.text.match(/interrupted:/g)).toHaveLength(1);
});
