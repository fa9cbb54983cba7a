import { describe, expect, it } from "vitest";
import { givenWidths, groupsToPrune } from "../../../src/pipeline/prune/groups-to-prune.js";
import { groupsOf } from "../../support/sliced.js";

const net = `(x: f32[N,3,4,4]) -> (y) {
  c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[6,3,1,1], $b: f32[6])
  r = Relu(c)
  d = Conv "second" <kernel_shape=[1,1]>(r, $v: f32[8,6,1,1])
  y = Conv "last" <kernel_shape=[1,1]>(d, $u: f32[2,8,1,1])
}`;
const everything = { include: [], exclude: [] };

describe("givenWidths", () => {
  it("are those of the groups that can be narrowed, in order", async () => {
    const map = await groupsOf(net);
    const groups = groupsToPrune(map, everything);
    const widths = givenWidths(map, groups, [4, 8]);
    expect([...widths].map(([{ name }, width]) => [name, width])).toEqual([
      ["first", 4],
      ["second", 8],
    ]);
  });

  it.each([
    ["too few", [4], /1 numbers, and the model has 2 groups/],
    ["wider than a group is", [4, 9], /9 units of second, which has 8/],
    ["none of a group that others need", [0, 8], /first cannot go as a whole/],
  ])("refuses %s", async (_, widths, message) => {
    const map = await groupsOf(net);
    expect(() => givenWidths(map, groupsToPrune(map, everything), widths)).toThrow(
      expect.objectContaining({ code: "FLAG_INVALID", message: expect.stringMatching(message) }),
    );
  });
});
