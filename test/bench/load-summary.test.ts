import { describe, expect, it } from "vitest";
import { seededRandom } from "../../src/base/random.js";
import { arrivals, type Served, summarizeLoad } from "../../src/bench/index.js";

/** One server that takes the same time for each request, as a queue has it. */
function queue(arrivalMs: Float64Array, serviceMs: number): Served {
  const startMs = new Float64Array(arrivalMs.length);
  let free = 0;
  const endMs = arrivalMs.map((arrival, i) => {
    startMs[i] = Math.max(arrival, free);
    free = startMs[i]! + serviceMs;
    return free;
  });
  return { arrivalMs, startMs, endMs, peakRssBytes: 0 };
}

describe("a load", () => {
  // Pollaczek and Khinchine: the mean wait of M/D/1 is rho / (2 (1 - rho)) times the service.
  it.each([0.2, 0.5, 0.8])("of M/D/1 at %d waits as long as theory says", (rho) => {
    const durationMs = 2_000_000;
    const served = queue(arrivals("poisson", 100 * rho, durationMs, seededRandom(5)), 10);
    const { meanWaitingMs, utilization, offeredPerSecond, servedPerSecond } = summarizeLoad(served, { durationMs }, 1);
    const theory = (10 * rho) / (2 * (1 - rho));
    expect(Math.abs(meanWaitingMs / theory - 1)).toBeLessThan(0.05);
    expect(utilization).toBeCloseTo(rho, 1);
    expect(offeredPerSecond).toBeCloseTo(servedPerSecond, 0);
  });

  it("counts latency from the arrival, and leaves out the start, while the queue forms", () => {
    const arrivalMs = Float64Array.from({ length: 100 }, (_, i) => 10 * i);
    const served = queue(arrivalMs, 20);
    const { requests, latency, waiting, service, utilization } = summarizeLoad(served, { durationMs: 1000 }, 1);
    expect(requests).toBe(90);
    // The i-th waits 10 i, and is served for 20.
    expect(latency.p50Ms).toBe(20 + 10 * 54);
    expect(waiting.p50Ms).toBe(10 * 54);
    expect(service).toMatchObject({ p50Ms: 20, p90Ms: 20, p95Ms: 20, p99Ms: null, p999Ms: null });
    expect(service.bounds).toMatchObject({ p50: { low: 20, high: 20 }, p99: { high: null } });
    expect(utilization).toBeCloseTo(2, 10);
  });

  it("counts every request of a recording, however it begins", () => {
    const early = Float64Array.from([...Array.from({ length: 40 }, (_, i) => 2 * i), 1000]);
    const served = queue(early, 1);
    expect(summarizeLoad(served, { durationMs: 1000 }, 1).requests).toBe(1);
    const { requests, offeredPerSecond, utilization } = summarizeLoad(served, { durationMs: 1000, forming: 0 }, 1);
    expect([requests, offeredPerSecond]).toEqual([41, 41]);
    expect(utilization).toBeCloseTo(0.041, 10);
  });

  it("has no bounds for percentiles that its requests do not reach", () => {
    const served = queue(arrivals("poisson", 50, 4000, seededRandom(5)), 10);
    const { bounds, latency } = summarizeLoad(served, { durationMs: 4000 }, 1);
    expect(latency.p99Ms).toBeNull();
    expect(bounds.p99.high).toBeNull();
    expect(bounds.p999.high).toBeNull();
    expect(bounds.p95.low!).toBeLessThanOrEqual(latency.p95Ms!);
    expect(bounds.p95.high!).toBeGreaterThanOrEqual(latency.p95Ms!);
  });

  it("shares the work among processes", () => {
    const served = queue(
      Float64Array.from({ length: 100 }, (_, i) => 10 * i),
      5,
    );
    expect(summarizeLoad(served, { durationMs: 1000 }, 2).utilization).toBeCloseTo(0.25, 10);
  });
});

it("bounds hold the truth though requests wait for each other", () => {
  // Latencies of M/D/1 at 60 %; the truth is that of a very long queue.
  const times = (requests: number, seed: number) => {
    const durationMs = requests / 0.06;
    return { durationMs, served: queue(arrivals("poisson", 60, durationMs, seededRandom(seed)), 10) };
  };
  const long = times(400_000, 7);
  const { latency } = summarizeLoad(long.served, { durationMs: long.durationMs }, 1);
  const trials = 60;
  let above = 0;
  for (let trial = 0; trial < trials; trial++) {
    const { served, durationMs } = times(700, 100 + trial);
    const { high } = summarizeLoad(served, { durationMs }, 1).bounds.p95;
    if (high === null || high >= latency.p95Ms!) above++;
  }
  // 95 % of 60 are 57; resampling stretches of the queue gives 47.
  expect(above).toBeGreaterThanOrEqual(52);
});
