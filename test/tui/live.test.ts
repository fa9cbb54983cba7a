import { describe, expect, it, vi } from "vitest";
import type { RunEvent } from "../../src/pipeline/events.js";
import { widthOf } from "../../src/tui/cells.js";
import { drawLive } from "../../src/tui/live/draw.js";
import { idle, type LiveView, reduce, remainingMs } from "../../src/tui/live/fold.js";
import { Region, type RegionStream } from "../../src/tui/live/region.js";
import { watchLive } from "../../src/tui/live/watch-live.js";
import { look } from "../../src/tui/look.js";
import { emulator, history, type Size, seen, written } from "./pseudo-terminal.js";

const plain = look(false, false);
const wide = { columns: 80, rows: 24 };

/** Events with the moments at which they came. */
const folded = (...events: readonly (readonly [number, RunEvent])[]): LiveView =>
  events.reduce((view, [ms, event]) => reduce(view, event, ms), idle);

const stage = (name: Extract<RunEvent, { type: "stage" }>["stage"]): RunEvent => ({ type: "stage", stage: name });
const progress = (done: number, total: number): RunEvent => ({ type: "progress", done, total });

describe("the view", () => {
  it("tells the time left by the pace since counting began", () => {
    const view = folded([0, stage("bench")], [5000, progress(0, 100)], [15_000, progress(50, 100)]);
    expect(remainingMs(view.current!, 15_000)).toBe(10_000);
  });

  it("tells no time left before it was watched, or when all is done", () => {
    const early = folded([0, stage("bench")], [0, progress(0, 100)], [500, progress(50, 100)]);
    expect(remainingMs(early.current!, 500)).toBeNull();
    const done = folded([0, stage("bench")], [0, progress(0, 100)], [9000, progress(100, 100)]);
    expect(remainingMs(done.current!, 9000)).toBeNull();
  });

  it("measures another count within a stage anew", () => {
    const view = folded(
      [0, stage("quantize")],
      [0, progress(9, 10)],
      [60_000, progress(1, 30)],
      [70_000, progress(11, 30)],
    );
    expect(remainingMs(view.current!, 70_000)).toBe(19_000);
  });

  it("keeps the fastest candidate over stages, and forgets what a stage counted", () => {
    const found = (candidate: string, speedup: number | null): RunEvent => ({
      ...{ type: "candidate", candidate, speedup, isTimed: speedup !== null, accuracy: null },
    });
    const view = folded(
      [0, stage("bench")],
      [0, progress(3, 4)],
      [1, found("slow", 1.2)],
      [2, found("fast", 2.5)],
      [3, found("unknown", null)],
      [4, stage("verify")],
    );
    expect(view.best).toMatchObject({ candidate: "fast" });
    expect([...view.candidates.keys()]).toEqual(["slow", "fast", "unknown"]);
    expect(view.current).toMatchObject({ stage: "verify", progress: null });
  });
});

it("takes in what is found out of a candidate later, and counts it once", () => {
  const found = (candidate: string, speedup: number | null, accuracy: number | null): RunEvent => ({
    ...{ type: "candidate", candidate, speedup, isTimed: false, accuracy },
  });
  const view = folded(
    [0, found("a", null, null)],
    [1, found("a", 2, null)],
    [2, found("b", 1.5, null)],
    [3, found("a", null, 0.9)],
  );
  expect(view.best).toMatchObject({ candidate: "a", speedup: 2, accuracy: 0.9 });
  expect(view.candidates.size).toBe(2);
  // A longer race knows better.
  const later = folded([0, found("a", 2, 0.9)], [1, found("b", 1.5, 0.9)], [2, found("a", 1.2, 0.9)]);
  expect(later.best).toMatchObject({ candidate: "b" });
});

it("calls the best by what was timed once anything was, and by estimates before", () => {
  const found = (candidate: string, speedup: number | null, isTimed: boolean): RunEvent => ({
    ...{ type: "candidate", candidate, speedup, isTimed, accuracy: 0.9 },
  });
  const before = [
    [0, found("flattered", 2.5, false)],
    [1, found("modest", 2, false)],
  ] as const;
  expect(folded(...before).best).toMatchObject({ candidate: "flattered", isTimed: false });
  const after = folded(...before, [2, found("modest", 1.9, true)], [3, found("modest", null, false)]);
  expect(after.best).toMatchObject({ candidate: "modest", speedup: 1.9, isTimed: true });
});

describe("the lines", () => {
  const busy = folded(
    [0, stage("bench")],
    [0, progress(0, 200)],
    [0, { type: "candidate", candidate: "int8 \u001b[2J 静态", speedup: 2.137, isTimed: true, accuracy: 0.99 }],
    [10_000, { type: "timing", baselineMs: 24.3, speedup: 2.11, spread: 0.042 }],
    [10_000, progress(50, 200)],
  );

  it("show stage, progress, time left, noise and the best so far", () => {
    expect(drawLive(busy, 10_000, wide, plain)).toEqual([
      " bench      #######...................   25 %  50 of 200  10 s, about 30 s left",
      " timing     24.3 ms before, 2.11x as fast so far, noise 4.2 %",
      " best       2.14x  accuracy 0.9900  int8 \\x1b[2J 静态",
    ]);
    expect(drawLive(busy, 10_000, { columns: 120, rows: 24 }, plain)[0]).toContain("50 of 200  10 s, about 30 s left");
  });

  it("tell the time left and both figures of the best where there is little room", () => {
    expect(drawLive(busy, 10_000, { columns: 40, rows: 12 }, plain)).toEqual([
      " bench       25 %  50 of 200  30 s left",
      " timing     2.11x so far, noise 4.2 %",
      " best       2.14x  accuracy 0.9900",
    ]);
    const [stageLine, , best] = drawLive(busy, 10_000, { columns: 50, rows: 12 }, plain);
    expect(stageLine).toBe(" bench      ##......   25 %  50 of 200  30 s left");
    expect(best).toBe(" best       2.14x  accuracy 0.9900  int8 ..J 静态");
  });

  it("say of a speed that it is estimated, in fewer signs where there is little room", () => {
    const guessed = folded(
      [0, stage("bench")],
      [0, { type: "candidate", candidate: "int8 static", speedup: 2.137, isTimed: false, accuracy: 0.99 }],
    );
    const best = (columns: number) => drawLive(guessed, 0, { columns, rows: 12 }, plain)[1];
    expect(best(80)).toBe(" best       2.14x estimated  accuracy 0.9900  int8 static");
    expect(best(50)).toBe(" best       ~2.14x  accuracy 0.9900  int8 static");
    expect(best(40)).toBe(" best       ~2.14x  accuracy 0.9900");
  });

  it.each([10, 20, 40, 80, 200])("stay within %i columns, one left free", (columns) => {
    for (const line of drawLive(busy, 10_000, { columns, rows: 24 }, plain)) {
      expect(widthOf(line)).toBeLessThan(columns);
    }
  });

  it("are never more than there are rows", () => {
    expect(drawLive(busy, 10_000, { columns: 80, rows: 1 }, plain)).toHaveLength(1);
    expect(drawLive(busy, 10_000, { columns: 80, rows: 0 }, plain)).toEqual([]);
  });
});

/** A stream that a terminal shows. */
function shownOn([columns, rows]: Size) {
  const terminal = emulator([columns, rows]);
  let text = "";
  const resized: (() => void)[] = [];
  const stream = {
    columns,
    rows,
    write(more: string): boolean {
      text += more;
      return true;
    },
    on: (_: string, handler: () => void) => resized.push(handler),
    off: () => undefined,
  };
  return {
    terminal,
    stream: stream as unknown as RegionStream,
    async show(): Promise<string[]> {
      const next = text;
      text = "";
      await written(terminal, next.replaceAll("\n", "\r\n"));
      return seen(terminal);
    },
    resize([newColumns, newRows]: Size): void {
      Object.assign(stream, { columns: newColumns, rows: newRows });
      terminal.resize(newColumns, newRows);
      for (const handler of resized) handler();
    },
  };
}

describe("the region", () => {
  it("is drawn in place, and text stays above it", async () => {
    const { stream, show } = shownOn([40, 6]);
    const region = new Region(stream);
    region.show(["one", "two"]);
    region.above(["kept"], ["one", "two", "three"]);
    region.show(["1"]);
    expect((await show()).filter((line) => line !== "")).toEqual(["kept", "1"]);
  });

  it("scrolls text away without a trace of its own lines", async () => {
    const { terminal, stream, show } = shownOn([40, 5]);
    const region = new Region(stream);
    for (let i = 0; i < 12; i++) region.above([`line ${i}`], ["progress", "best"]);
    expect(await show()).toEqual(["line 9", "line 10", "line 11", "progress", "best"]);
    expect(history(terminal).filter((line) => line === "progress")).toHaveLength(1);
  });

  it("writes nothing when nothing changed", () => {
    let writes = 0;
    const region = new Region({ write: () => ++writes > 0 } as unknown as RegionStream);
    region.show(["same"]);
    region.show(["same"]);
    expect(writes).toBe(1);
  });
});

describe("a run on a terminal", () => {
  it.each<readonly [string, Size]>([
    ["narrower", [40, 12]],
    ["wider", [160, 24]],
    ["lower", [80, 5]],
    ["narrower and lower", [30, 4]],
  ])("leaves no torn frame when it becomes %s", async (_, size) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { stream, show, resize } = shownOn([80, 24]);
    const watch = watchLive(stream, () => 0, plain);
    watch.observer(stage("load"));
    watch.observer(stage("bench"));
    watch.observer(progress(3, 10));
    watch.observer({
      type: "candidate",
      candidate: `int8 ${"static ".repeat(20)}`,
      speedup: 2,
      isTimed: true,
      accuracy: 0.99,
    });
    vi.advanceTimersByTime(300);
    await show();
    for (const next of [size, [80, 24] as const, size]) {
      resize(next);
      vi.advanceTimersByTime(300);
      const lines = await show();
      expect(lines.filter((line) => line.startsWith(" bench"))).toHaveLength(1);
      expect(lines.filter((line) => line.startsWith(" best"))).toHaveLength(next[1] > 2 ? 1 : 0);
    }
    watch.stop();
    const text = (await show()).join("\n");
    vi.useRealTimers();
    expect(text.match(/^ bench/gm)).toHaveLength(1);
    expect(text).not.toContain(" best");
  });

  it("keeps finished stages and warnings, and leaves the cursor as it was", async () => {
    const { stream, show } = shownOn([60, 10]);
    let ms = 0;
    const watch = watchLive(stream, () => ms, plain);
    watch.observer({ type: "stage", stage: "calibrate", detail: "64 \u001b[31msamples" });
    ms = 2000;
    watch.observer({ type: "warning", warning: "odd \u001b[2J" });
    watch.observer(stage("bench"));
    watch.interrupted();
    watch.stop();
    const lines = (await show()).filter((line) => line !== "");
    expect(lines).toEqual([
      " warning: odd \\x1b[2J",
      " calibrate  2.0 s     64 \\x1b[31msamples",
      " interrupted: ending; once more, and it ends at once",
      " bench      0 ms",
    ]);
  });
});
