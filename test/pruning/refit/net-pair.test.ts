/** What is the same in both nets, what is fitted to what, in which order, and what a part of both computes. */
import { describe, expect, it } from "vitest";
import { check, type Value } from "../../../src/ir/index.js";
import type { ChannelMap } from "../../../src/pruning/groups/channel-group.js";
import { fitTasks, readyTasks } from "../../../src/pruning/refit/fit-tasks.js";
import { NetPair } from "../../../src/pruning/refit/net-pair.js";
import { Segment } from "../../../src/pruning/refit/segment.js";
import { sliceChannels } from "../../../src/pruning/slice/slice-channels.js";
import { largestDifference, runModel, seededFeeds } from "../../support/run-model.js";
import { groupsOf } from "../../support/sliced.js";

/** A residual sum between two other layers; what is hidden in the branch is narrowed. */
const net = `(x: f32[N,3,4,4]) -> (y) {
  a = Conv "stem" (x, $a0: f32[8,3,1,1], $a1: f32[8])
  r = Relu(a)
  h = Conv "open" (r, $h0: f32[12,8,1,1], $h1: f32[12])
  q = Relu(h)
  b = Conv "close" (q, $b0: f32[8,12,1,1], $b1: f32[8])
  s = Add "sum" (r, b)
  y = Conv "last" (s, $y0: f32[2,8,1,1], $y1: f32[2])
}`;

async function pairOf(text: string, keep: Readonly<Record<string, readonly number[]>>): Promise<NetPair> {
  const map = await groupsOf(text);
  const kept = new Map(map.groups.flatMap((group) => (keep[group.name] ? [[group, keep[group.name]!] as const] : [])));
  return new NetPair(map, sliceChannels(map, kept), kept);
}

const labelled = (map: ChannelMap, label: string): Value =>
  [...map.model.graph.nodes()].flatMap(({ outputs }) => outputs).find((value) => value?.label === label)!;

describe("two nets side by side", () => {
  it("are the same up to where units are missing", async () => {
    const pair = await pairOf(net, { open: [0, 5, 7] });
    const twins = [...pair.sliced.model.graph.nodes()].map(({ output }) => [
      output.label,
      pair.twinOf(output) === labelled(pair.map, output.label),
    ]);
    expect(twins).toEqual([
      ["a", true],
      ["r", true],
      ["h", false],
      ["q", false],
      ["b", false],
      ["s", false],
      ["y", false],
    ]);
    const [, , open, , close] = [...pair.sliced.model.graph.nodes()];
    expect(pair.readsSame(open!, 0)).toBe(true);
    expect(pair.readsSame(close!, 0)).toBe(false);
    expect(pair.nodeBefore(close!)!.displayName).toBe("close");
    expect([...pair.keptAlong(labelled(pair.map, "q"), 1, 12)!]).toEqual([0, 5, 7]);
    expect(pair.keptAlong(labelled(pair.map, "b"), 1, 8)).toBeNull();
  });

  it("are the same everywhere when nothing was taken", async () => {
    const pair = await pairOf(net, {});
    expect(fitTasks(pair)).toEqual({ tasks: [], unfitted: [] });
  });
});

describe("what is fitted", () => {
  it("is every layer that reads something else than it did; of a sum the later operand makes up for all", async () => {
    const pair = await pairOf(net, { open: [0, 5, 7] });
    const { tasks, unfitted } = fitTasks(pair);
    expect(unfitted).toEqual([]);
    expect(tasks.map(({ name, target, minus }) => [name, target.label, minus?.label ?? null])).toEqual([
      ["close", "s", "r"],
      ["last", "y", null],
    ]);
    expect(readyTasks(pair, tasks).map(({ name }) => name)).toEqual(["close"]);
    expect(readyTasks(pair, tasks.slice(1)).map(({ name }) => name)).toEqual(["last"]);
  });

  it("says which of the channels that it makes are left", async () => {
    const { tasks } = fitTasks(await pairOf(net, { stem: [1, 2, 6], open: [0, 5, 7] }));
    expect(tasks.map(({ name, keptOutputs }) => [name, keptOutputs && [...keptOutputs]])).toEqual([
      ["open", [0, 5, 7]],
      ["close", [1, 2, 6]],
      ["last", null],
    ]);
  });

  it("leaves out layers with computed weights, and names them", async () => {
    const text = net.replace("y = Conv", "k = Mul(w, w) y = Conv").replace("$y0: f32[2,8,1,1]", "k");
    const pair = await pairOf(text.replace("x: f32[N,3,4,4]", "x: f32[N,3,4,4], w: f32[2,8,1,1]"), { open: [1] });
    const { tasks, unfitted } = fitTasks(pair);
    expect(tasks.map(({ name }) => name)).toEqual(["close"]);
    // A product of two activations has no weights to fit, and nobody misses them.
    expect(unfitted).toEqual([]);
  });
});

describe("a part of both nets", () => {
  it("computes what is the same once, and the rest of each from what is known", async () => {
    const pair = await pairOf(net, { open: [0, 5, 7] });
    const { map, sliced } = pair;
    const known = labelled(map, "r");
    const segment = new Segment(map.model, (value) => value === known, pair.twinOf);
    const own = sliced.valueOf.get(labelled(map, "s"))!;
    segment.model.graph.addOutput("before", segment.value(labelled(map, "s")));
    segment.model.graph.addOutput("after", segment.value(own));
    check(segment.model.graph);
    expect([...segment.read.keys()]).toEqual([known]);
    expect(segment.has(labelled(map, "q"))).toBe(true);
    expect(segment.has(labelled(map, "y"))).toBe(false);
    // Conv, Relu, Conv, Add of each; the stem is known.
    expect(segment.computed.size).toBe(8);

    const feeds = seededFeeds(map.model);
    for (const { graph } of [map.model, sliced.model]) {
      const values = [...graph.nodes()].map(({ output }) => output);
      for (const label of ["r", "s"]) graph.addOutput(`${label} of it`, values.find((value) => value.label === label)!);
    }
    const whole = await runModel(map.model, feeds);
    const pruned = await runModel(sliced.model, feeds);
    const found = await runModel(segment.model, { [segment.read.get(known)!]: whole["r of it"]! });
    expect(largestDifference({ s: found.before! }, { s: whole["s of it"]! })).toBeLessThan(1e-5);
    expect(largestDifference({ s: found.after! }, { s: pruned["s of it"]! })).toBeLessThan(1e-5);
    expect(largestDifference({ s: whole["s of it"]! }, { s: pruned["s of it"]! })).toBeGreaterThan(1e-2);
  });
});
