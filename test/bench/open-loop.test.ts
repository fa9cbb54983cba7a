import { describe, expect, it } from "vitest";
import { Server } from "../../src/bench/index.js";
import type { Timer } from "../../src/runtime/port.js";
import { FakeRuntime } from "../support/fake-runtime.js";

const data = { path: "none" };
const session = { provider: "cpu", threads: 1, optimization: "all" } as const;
const options = { ...{ model: "m", data, session }, clock: () => 0 };

describe("a server", () => {
  it("deals requests in turn, and puts the answers back in order", async () => {
    const runtime = new FakeRuntime({ m: { latency: () => 30 } });
    const server = await Server.start(runtime, { ...options, processes: 2 });
    const told: number[] = [];
    const served = await server.serve(Float64Array.from([0, 10, 20, 30, 40]), (done) => told.push(done));
    expect([...served.startMs]).toEqual([0, 10, 30, 40, 60]);
    expect([...served.endMs]).toEqual([30, 40, 60, 70, 90]);
    expect(served.peakRssBytes).toBe(2e6);
    expect(told.at(-1)).toBe(5);
    expect(server.serviceMs).toBe(30);
  });

  it("has served the first of them where patience ends, whichever process came least far", async () => {
    const runtime = new FakeRuntime({ m: { latency: () => 30 } });
    const server = await Server.start(runtime, { ...options, processes: 2 });
    const arrivals = Float64Array.from({ length: 20 }, (_, i) => i);
    const served = await server.serve(arrivals, undefined, { untilMs: 100, leastRequests: 2 });
    // Each process begins its fourth request before 100 ms are over, and no fifth.
    expect([...served.arrivalMs]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(served.endMs).toHaveLength(8);
    const few = await server.serve(arrivals, undefined, { untilMs: 0, leastRequests: 5 });
    expect(few.arrivalMs).toHaveLength(6);
  });

  it("leaves no process behind when one does not start", async () => {
    const runtime = new FakeRuntime({ m: { latency: () => 30 } });
    const closed: number[] = [];
    const real = runtime.timer.bind(runtime);
    let started = 0;
    runtime.timer = async (spec): Promise<Timer> => {
      const number = started++;
      if (number === 2) throw new Error("no more room");
      return { ...(await real(spec)), close: async () => void closed.push(number) };
    };
    await expect(Server.start(runtime, { ...options, processes: 3 })).rejects.toThrow("no more room");
    expect(closed).toEqual([0, 1]);
  });
});
