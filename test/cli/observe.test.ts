import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { watchRun } from "../../src/cli/observe.js";
import { fakeIo } from "./fake-io.js";

const flags = { quiet: false, json: false };

describe("lines", () => {
  let ms = 0;
  beforeEach(() => {
    ms = 0;
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());
  const now = (): number => ms;

  it("has one line for a stage, a candidate and a warning", () => {
    const io = fakeIo();
    const { observer, stop } = watchRun(io, flags, now);
    observer({ type: "stage", stage: "calibrate", detail: "64 samples" });
    ms = 1500;
    observer({ type: "progress", done: 3, total: 64 });
    observer({ type: "candidate", candidate: "int8", speedup: 2.137, isTimed: false, accuracy: 0.99 });
    observer({ type: "candidate", candidate: "int8", speedup: 1.9, isTimed: true, accuracy: 0.99 });
    observer({ type: "warning", warning: "odd\u001b[2J" });
    stop();
    expect(io.stderr.text).toBe(
      "[   0.0 s] calibrate: 64 samples\n[   1.5 s]   int8  2.14x estimated  accuracy 0.9900\n[   1.5 s]   int8  1.90x  accuracy 0.9900\n[   1.5 s] warning: odd\\x1b[2J\n",
    );
    expect(io.stdout.text).toBe("");
  });

  it("gives a sign of life when nothing was said for ten seconds, and none after the end", () => {
    const io = fakeIo();
    const { observer, stop } = watchRun(io, flags, now);
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
});

it.each([
  ["is seen by whoever watches", flags, ["stage"]],
  ["is told in lines with --json, whoever watches", { quiet: false, json: true }, []],
  ["is not told with --quiet", { quiet: true, json: false }, []],
])("%s", (_, settings, events: readonly string[]) => {
  const seen: string[] = [];
  let stops = 0;
  const io = fakeIo({
    watch: () => ({ observer: ({ type }) => void seen.push(type), stop: () => void stops++ }),
  });
  const { observer, stop } = watchRun(io, settings, () => 0);
  observer({ type: "stage", stage: "load" });
  stop();
  expect(seen).toEqual(events);
  expect(stops).toBe(events.length);
  expect(io.stderr.text).toBe(settings.json ? "[   0.0 s] load\n" : "");
});
