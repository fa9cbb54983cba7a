import { describe, expect, it } from "vitest";
import { Tensor } from "../../src/ir/index.js";
import { ChannelObserver } from "../../src/quantization/channel-observer.js";

function observed(channels: number, ...samples: (readonly number[])[]) {
  const observer = new ChannelObserver(channels);
  for (const values of samples) observer.see(Tensor.f32([1, values.length / channels, channels], values));
  return observer.statistics();
}

describe("ChannelObserver", () => {
  it("sees channels over samples and rows, and ranges per sample", () => {
    const statistics = observed(2, [1, -2, 3, 4], [-1, 0])!;
    expect([...statistics.min]).toEqual([-1, -2]);
    expect([...statistics.max]).toEqual([3, 4]);
    expect([...statistics.meanSquare]).toEqual([11 / 3, 20 / 3]);
    expect(statistics.rangeSquare).toBe((6 ** 2 + 1 ** 2) / 2); // zero is in every range
    expect(statistics.rowSquare).toBe((2 ** 2 + 4 ** 2 + 1 ** 2) / 3);
    expect([statistics.rowLow, statistics.rowHigh]).toEqual([-1, 1]);
  });

  it("has nothing to say of no samples, odd numbers or another number of channels", () => {
    expect(observed(2)).toBeNull();
    expect(observed(2, [1, Number.NaN])).toBeNull();
    expect(observed(2, [1, Number.POSITIVE_INFINITY], [1, 2])).toBeNull();
    const other = new ChannelObserver(3);
    other.see(Tensor.f32([1, 2], [1, 2]));
    expect(other.statistics()).toBeNull();
  });

  it("takes rows of zeros", () => {
    expect(observed(2, [0, 0])).toMatchObject({ rangeSquare: 0, rowSquare: 0, rowLow: 0, rowHigh: 0 });
  });
});
