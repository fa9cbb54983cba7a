import { describe, expect, it } from "vitest";
import { check } from "../../../src/ir/index.js";
import { sliceChannels } from "../../../src/pruning/slice/slice-channels.js";
import { randomNet } from "../../support/random-net.js";
import { largestDifference, runModel, seededFeeds } from "../../support/run-model.js";
import { cutByChance, groupsOf } from "../../support/sliced.js";

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
