import { describe, expect, it } from "vitest";
import { alignedWidths } from "../../../src/pruning/groups/aligned-widths.js";
import type { ChannelGroup } from "../../../src/pruning/groups/channel-group.js";
import { channelBlock } from "../../../src/target/channel-block.js";

const group = (facts: Partial<ChannelGroup>): ChannelGroup => ({
  ...{ name: "c", kind: "channels", width: 64, unitSize: 1, frozen: null },
  ...{ producers: [], consumers: [], followers: [], values: [] },
  ...facts,
});

describe("widths worth keeping", () => {
  it("are whole blocks, and below one what the layout asks for", () => {
    expect(alignedWidths(group({}), 16)).toEqual([64, 48, 32, 16, 12, 8, 4]);
    expect(alignedWidths(group({ width: 40 }), 16)).toEqual([40, 32, 16, 12, 8, 4]);
    expect(alignedWidths(group({ width: 40 }), 8)).toEqual([40, 32, 24, 16, 8, 4]);
  });

  it("count the channels of each unit", () => {
    expect(alignedWidths(group({ width: 32, unitSize: 4 }), 16)).toEqual([32, 28, 24, 20, 16, 12, 8, 4, 3, 2, 1]);
    expect(alignedWidths(group({ width: 40, unitSize: 3 }), 16)).toEqual([40, 32, 16, 4]);
  });

  it("are all numbers of heads, and nothing but its own width for a group that stays", () => {
    expect(alignedWidths(group({ kind: "heads", width: 4, unitSize: 32 }), 16)).toEqual([4, 3, 2, 1]);
    expect(alignedWidths(group({ frozen: "it is the model's output y" }), 16)).toEqual([64]);
  });

  it("follow the processor's vectors", () => {
    expect(channelBlock(["avx2", "avx512f"])).toBe(16);
    expect(channelBlock(["avx2", "fma"])).toBe(8);
    expect(channelBlock([])).toBe(8);
    expect(channelBlock(["asimd", "fp"])).toBe(16);
  });
});
