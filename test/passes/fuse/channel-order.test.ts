import { describe, expect, it } from "vitest";
import { type ChannelOrder, fillChannels, inTurn } from "../../../src/passes/fuse/channel-order.js";

const channelsOf = (order: ChannelOrder, first: number, count: number): number[] => {
  const channels = new Uint32Array(count);
  fillChannels(order, first, channels);
  return [...channels];
};

describe("fillChannels", () => {
  it("writes one channel after the other, over and over", () => {
    expect(channelsOf(inTurn(2, 3), 0, 8)).toEqual([0, 0, 1, 1, 2, 2, 0, 0]);
    expect(channelsOf(inTurn(1, 2), 0, 5)).toEqual([0, 1, 0, 1, 0]);
  });

  it("goes on to the channels of the next block", () => {
    expect(channelsOf({ run: 1, count: 2, block: 4 }, 0, 10)).toEqual([0, 1, 0, 1, 2, 3, 2, 3, 4, 5]);
  });

  it("begins anywhere", () => {
    const order = { run: 3, count: 2, block: 12 };
    const whole = channelsOf(order, 0, 40);
    for (let first = 0; first < 40; first++) {
      expect(channelsOf(order, first, 40 - first)).toEqual(whole.slice(first));
      const expected = whole.map((_, i) => Math.floor(i / order.block) * order.count + (Math.floor(i / order.run) % 2));
      expect(whole).toEqual(expected);
    }
  });

  it("has nothing to say of a weight without elements", () => {
    expect(channelsOf(inTurn(0, 0), 0, 0)).toEqual([]);
  });
});
