import { describe, expect, it } from "vitest";
import { check } from "../../../src/ir/index.js";
import type { ChannelMap } from "../../../src/pruning/groups/channel-group.js";
import { residualBranches } from "../../../src/pruning/groups/residual-branches.js";
import { fitTasks } from "../../../src/pruning/refit/fit-tasks.js";
import { NetPair } from "../../../src/pruning/refit/net-pair.js";
import { sliceChannels } from "../../../src/pruning/slice/slice-channels.js";
import { largestDifference, runModel, seededFeeds } from "../../support/run-model.js";
import { groupsOf, silenced } from "../../support/sliced.js";

/** Two blocks one behind the other; the last layers of the branches have no bias, so nothing is left of them. */
const blocks = `(x: f32[N,3,4,4]) -> (y) {
  s = Conv "stem" (x, $s0: f32[8,3,1,1], $s1: f32[8])
  a = Conv "open1" (s, $a0: f32[12,8,1,1], $a1: f32[12])
  g = GlobalAveragePool(a)
  h = Conv "gate" (g, $g0: f32[12,12,1,1], $g1: f32[12])
  m = Mul(a, h)
  r = Relu(m)
  b = Conv "close1" (r, $b0: f32[8,12,1,1])
  t = Add "sum1" (s, b)
  c = Conv "open2" (t, $c0: f32[16,8,1,1], $c1: f32[16])
  q = Relu(c)
  d = Conv "close2" (q, $d0: f32[8,16,1,1])
  u = Add "sum2" (d, t)
  y = Conv "last" (u, $y0: f32[2,8,1,1], $y1: f32[2])
}`;

const names = (map: ChannelMap) =>
  [...residualBranches(map)].map(([group, { sum, stay, dead }]) => [group.name, sum.name, stay.label, dead.size]);

describe("residual branches", () => {
  it("are found, with all that goes with them", async () => {
    expect(names(await groupsOf(blocks))).toEqual([
      ["open1", "sum1", "s", 7],
      ["open2", "sum2", "t", 4],
    ]);
  });

  it.each([["open1"], ["open2"], ["open1", "open2"]])("go as a whole: %s %s", async (...which) => {
    const map = await groupsOf(blocks);
    const kept = new Map(map.groups.filter(({ name }) => which.includes(name)).map((group) => [group, []]));
    const { model, nodeOf, valueOf: copies } = sliceChannels(map, kept);
    check(model.graph);
    expect([...model.graph.nodes()].map(({ op }) => op).filter((op) => op === "Add")).toHaveLength(2 - which.length);
    expect(model.graph.constants.every(({ useCount }) => useCount > 0)).toBe(true);
    expect([...nodeOf.values()].every((node) => node.attached)).toBe(true);
    expect([...copies.values()].every((value) => value.graph === model.graph)).toBe(true);
    const feeds = seededFeeds(map.model);
    const wanted = await runModel(silenced(map, kept), feeds);
    expect(largestDifference(await runModel(model, feeds), wanted)).toBeLessThan(1e-5);
  });

  it("leave those who read the sum something to make up for", async () => {
    const map = await groupsOf(blocks);
    const kept = new Map(map.groups.filter(({ name }) => name === "open2").map((group) => [group, []]));
    const { tasks } = fitTasks(new NetPair(map, sliceChannels(map, kept), kept));
    // What comes before reads what it read before.
    expect(tasks.map(({ name, target }) => [name, target.label])).toEqual([["last", "y"]]);
  });

  it("count as the sum where what stays of it has no other reader", async () => {
    const map = await groupsOf(blocks);
    const narrow = map.groups.find(({ name }) => name === "open1")!;
    const kept = new Map(map.groups.filter(({ name }) => name === "open2").map((group) => [group, [] as number[]]));
    kept.set(narrow, [0, 1, 2, 3]);
    const { tasks } = fitTasks(new NetPair(map, sliceChannels(map, kept), kept));
    expect(tasks.map(({ name, target }) => [name, target.label])).toEqual([
      ["gate", "h"],
      ["close1", "u"],
      ["last", "y"],
    ]);
  });

  it.each([
    ["the sum is an output", blocks.replace("-> (y)", "-> (y, u)"), ["open1"]],
    ["something else reads the branch", blocks.replace("-> (y)", "-> (y, d)"), ["open1"]],
    ["something else reads the units", blocks.replace("-> (y)", "-> (y, r)"), ["open2"]],
    [
      "what stays is repeated",
      blocks.replace("u = Add", "k = GlobalAveragePool(t) u = Add").replace("(d, t)", "(d, k)"),
      ["open1"],
    ],
    ["what stays is a constant", blocks.replace("(d, t)", "(d, $k: f32[8,4,4])"), ["open1"]],
    ["it is no sum", blocks.replace('Add "sum2"', 'Mul "sum2"'), ["open1"]],
  ])("are none where %s", async (_, text, left) => {
    expect(names(await groupsOf(text)).map(([name]) => name)).toEqual(left);
  });
});
