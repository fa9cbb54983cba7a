import { describe, expect, it } from "vitest";
import { check } from "../../../src/ir/index.js";
import { sliceChannels } from "../../../src/pruning/slice/slice-channels.js";
import { randomNet } from "../../support/random-net.js";
import { largestDifference, runModel, seededFeeds } from "../../support/run-model.js";
import { cutByChance, described, groupsOf } from "../../support/sliced.js";

describe("nets by chance", () => {
  const SEEDS = 60;
  it("compute what they should once units are cut by chance", { timeout: 120_000 }, async () => {
    let narrowed = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const text = randomNet(seed);
      const map = await groupsOf(text);
      const { off, left } = await cutByChance(map, seed);
      if (!(off < 1e-3)) throw new Error(`seed ${seed} is off by ${off}\n${text}`);
      if (left < 0.9) narrowed++;
    }
    expect(narrowed).toBeGreaterThan(SEEDS / 2);
  });
});

const chain = `(x: f32[N,3,4,4]) -> (y) {
  c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[6,3,1,1], $b: f32[6])
  r = Relu(c)
  y = Conv "last" <kernel_shape=[1,1]>(r, $v: f32[2,6,1,1])
}`;

describe("cutting", () => {
  it("leaves the original as it is, and everything when nothing is named", async () => {
    const map = await groupsOf(chain);
    const feeds = seededFeeds(map.model);
    const before = await runModel(map.model, feeds);
    const same = sliceChannels(map, new Map());
    expect(largestDifference(await runModel(same.model, feeds), before)).toBe(0);
    sliceChannels(map, new Map([[map.groups[0]!, [1, 4]]]));
    check(map.model.graph);
    expect(largestDifference(await runModel(map.model, feeds), before)).toBe(0);
  });

  it("says where each part of the original went, with the shapes that it has now", async () => {
    const map = await groupsOf(chain);
    const [group] = map.groups;
    const sliced = sliceChannels(map, new Map([[group!, [1, 4, 5]]]));
    const { model, nodeOf } = sliced;
    const [first, relu, last] = [...map.model.graph.nodes()];
    expect([...model.graph.nodes()]).toEqual([nodeOf.get(first!), nodeOf.get(relu!), nodeOf.get(last!)]);
    expect(nodeOf.get(first!)!.inputs.map((value) => value?.shape)).toEqual([["N", 3, 4, 4], [3, 3, 1, 1], [3]]);
    expect(sliced.valueOf.get(relu!.output)!.shape).toEqual(["N", 3, 4, 4]);
    expect(nodeOf.get(last!)!.inputs[1]!.constant!.dims).toEqual([2, 3, 1, 1]);
    const rows = first!.inputs[1]!.constant!.f32();
    expect([...nodeOf.get(first!)!.inputs[1]!.constant!.f32()]).toEqual(
      [1, 4, 5].flatMap((i) => [...rows.slice(3 * i, 3 * i + 3)]),
    );
    expect(model.graph.constants).toHaveLength(3);
  });

  it("refuses to take all of a group, or any of one that stays", async () => {
    const map = await groupsOf(chain);
    const [group, output] = map.groups;
    expect(() => sliceChannels(map, new Map([[group!, []]]))).toThrow("nothing is kept of first");
    expect(() => sliceChannels(map, new Map([[output!, [0]]]))).toThrow(
      "last cannot be cut: it is the model's output y",
    );
    expect(() => sliceChannels(map, new Map([[{ ...group! }, [0]]]))).toThrow("first is no group of this model");
  });
});

/** Channels that stay, for what moves them in a way that no rule follows, beside others that are cut. */
const stays = (moved: string): string => `(x: f32[N,3,4,4], i: i64[3]) -> (y) {
  free = Conv "free" <kernel_shape=[1,1]>(x, $w: f32[8,3,1,1])
  c = Conv "held" <kernel_shape=[1,1]>(free, $v: f32[6,8,1,1])
  ${moved}
  m = ReduceMean(r, $axes: i64[2] = {-2,-1})
  y = ReduceSum(m, $one: i64[1] = {1})
}`;

describe("nodes of channels that stay, beside others that are cut", () => {
  it.each([
    [
      "reversed by a Slice, which nothing behind it would notice",
      "r = Slice(c, $s: i64[1] = {-1}, $e: i64[1] = {-9223372036854775807}, $a: i64[1] = {1}, $t: i64[1] = {-1})",
    ],
    ["taken by computed numbers", "r = Gather <axis=1>(c, i)"],
    ["taken by a table of numbers", "r = Gather <axis=1>(c, $p: i64[2,2] = {5,0,3,3})"],
    [
      "divided",
      "a, b = Split <axis=1>(c, $p: i64[2] = {2,4})\n  g = Gather <axis=1>(b, i)\n  r = Concat <axis=1>(a, g)",
    ],
  ])("keep what they are told: %s", async (_, moved) => {
    const map = await groupsOf(stays(moved));
    expect(described(map)[0]).toBe("free: 8 channels");
    expect(map.groups.filter(({ frozen }) => frozen === null)).toHaveLength(1);
    const { off, left } = await cutByChance(map, 3);
    expect(off).toBeLessThan(1e-4);
    expect(left).toBeLessThan(0.9);
  });
});
