import { describe, expect, it } from "vitest";
import { halfWay } from "../../../src/pruning/choose/halve-speeds.js";

/** Nets take so much that the table does not know of, besides its own time; the whole one takes 10 ms by the table. */
const net = (ms: number, besidesMs = 2) => ({ ms, speedup: (10 + besidesMs) / (ms + besidesMs) });

describe("halfWay", () => {
  it("is at the middle of both speeds, and takes what a net takes that is so fast", () => {
    const [slow, fast] = [net(8), net(2)];
    const middle = halfWay(slow, fast, 1, 1.04)!;
    expect(middle.speedup).toBeCloseTo(Math.sqrt(slow.speedup * fast.speedup), 9);
    expect(middle).toEqual({ ms: expect.closeTo(12 / middle.speedup - 2, 9), speedup: middle.speedup });
  });

  it("is no slower than what is wanted", () => {
    const middle = halfWay(net(10), net(2), 2.5, 1.04)!;
    expect(middle.speedup).toBe(2.5);
    expect(middle.ms).toBeCloseTo(12 / 2.5 - 2, 9);
  });

  it.each([
    ["the fast one is hardly faster than is wanted", net(10), net(2), 2.95],
    ["the two are alike", net(2.05), net(2), 1],
    ["the slow one is faster than is wanted, and all but as fast", net(2.1), net(2), 2],
    ["the faster one takes longer by the table", { ms: 2, speedup: 1.2 }, { ms: 3, speedup: 2 }, 1],
  ])("is nowhere where %s", (_, slow, fast, least) => {
    expect(halfWay(slow, fast, least, 1.04)).toBeNull();
  });
});
