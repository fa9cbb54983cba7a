import { describe, expect, it } from "vitest";
import { warmUp } from "../../src/bench/warm-up.js";
import type { Timer } from "../../src/runtime/port.js";

/** Latencies in the order of runs, and how often it was asked; the last one from there on. */
function timerOf(...latencies: readonly number[]): Timer & { readonly windows: number[] } {
  const windows: number[] = [];
  let run = 0;
  const measure = async (runs: number): Promise<Float64Array> => {
    windows.push(runs);
    return Float64Array.from({ length: runs }, () => latencies[Math.min(run++, latencies.length - 1)]!);
  };
  return { windows, measure } as unknown as Timer & { readonly windows: number[] };
}

const still = (): number => 0;

describe("warming up", () => {
  it("ends after two windows that bring nothing new", async () => {
    const timer = timerOf(30);
    expect(await warmUp([timer], 1, still)).toEqual({ perRunMs: [30], settled: true });
    expect(timer.windows).toEqual([1, 3, 3]);
  });

  it("ends after one of a single run where a verdict is wanted soon", async () => {
    const timer = timerOf(30);
    expect(await warmUp([timer], 1, still, true)).toEqual({ perRunMs: [30], settled: true });
    expect(timer.windows).toEqual([1, 1]);
  });

  it("goes on while latencies reach new lows", async () => {
    const timer = timerOf(60, 50, 40, 30);
    expect(await warmUp([timer], 1, still, true)).toEqual({ perRunMs: [30], settled: true });
    expect(timer.windows).toHaveLength(5);
  });

  it("does not take the end of a disturbance for warming up", async () => {
    const timer = timerOf(30, 45, 45, 45, 30);
    expect(await warmUp([timer], 1, still)).toEqual({ perRunMs: [30], settled: true });
    expect(timer.windows).toHaveLength(3);
  });

  it("waits for the slowest to settle", async () => {
    const [calm, falling] = [timerOf(30), timerOf(60, 50, 40, 30)];
    await warmUp([calm, falling], 1, still, true);
    expect([calm, falling].map(({ windows }) => windows.length)).toEqual([5, 5]);
  });

  it("says when latencies have not settled", async () => {
    const timer = timerOf(...Array.from({ length: 20 }, (_, run) => 1000 * 0.8 ** run));
    expect((await warmUp([timer], 1, still, true)).settled).toBe(false);
    expect(timer.windows).toHaveLength(11);
  });
});
