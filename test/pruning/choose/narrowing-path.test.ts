import { describe, expect, it } from "vitest";
import type { Node } from "../../../src/ir/index.js";
import { LatencyTable, type ProfiledNet } from "../../../src/pruning/choose/latency-table.js";
import { NarrowingPath } from "../../../src/pruning/choose/narrowing-path.js";
import { NodeShares } from "../../../src/pruning/choose/node-shares.js";
import { uniformWidths, type Widths } from "../../../src/pruning/choose/widths.js";
import type { ChannelGroup } from "../../../src/pruning/groups/channel-group.js";
import { findChannelGroups } from "../../../src/pruning/groups/find-channel-groups.js";
import { prepared } from "../../support/quantize-text.js";

const text = `(x: f32[1,3,8,8]) -> (y) {
  a = Conv(x, $w: f32[64,3,1,1], $b: f32[64])
  r = Relu(a)
  c = Conv(r, $v: f32[64,64,1,1], $d: f32[64])
  s = Relu(c)
  y = Conv(s, $u: f32[5,64,1,1], $e: f32[5])
}`;

async function scene(cost: (share: number, node: Node) => number = (share) => 0.1 + share) {
  const model = await prepared(text);
  const map = findChannelGroups(model);
  const groups = map.groups.filter(({ frozen }) => frozen === null);
  const shares = new NodeShares(map, 16);
  const nets = [1, 0.75, 0.5, 0.25].map((share): ProfiledNet => {
    const widths = uniformWidths(groups, share, 16);
    const times = new Map([...model.graph.nodes()].map((node) => [node, cost(shares.of(node, widths), node)]));
    return { widths, times, totalMs: [...times.values()].reduce((a, b) => a + b, 0) + 0.5 };
  });
  return { map, groups, shares, table: new LatencyTable(shares, nets) };
}

/** A second group that costs a hundredth of the first. */
const errorsOf = (groups: readonly ChannelGroup[]) =>
  new Map(
    groups.map((group, i) => {
      const order = Int32Array.from({ length: 64 }, (_, unit) => unit);
      const errors = Float64Array.from({ length: 64 }, (_, n) => (i === 0 ? 1 : 0.01) * n ** 2);
      return [group, { removal: { order, errors }, scale: 1, none: null }] as const;
    }),
  );

describe("narrowing", () => {
  it("has widths in whole blocks", async () => {
    const { groups } = await scene();
    expect(groups).toHaveLength(2);
    expect([...uniformWidths(groups, 0.6, 16).values()]).toEqual([32, 32]);
    expect([...uniformWidths(groups, 0.1, 16).values()]).toEqual([8, 8]);
  });

  it("counts what nodes read times what they make", async () => {
    const { map, groups, shares } = await scene();
    const [first, , second] = [...map.model.graph.nodes()] as [Node, Node, Node];
    const half = uniformWidths(groups, 0.5, 16);
    expect(shares.of(first, half)).toBe(0.5);
    expect(shares.of(second, half)).toBe(0.25);
    expect(shares.of(second, new Map([[groups[0]!, 32]]))).toBe(0.5);
  });

  it("interpolates between measured widths, and never takes less work for slower", async () => {
    const { table, groups } = await scene();
    const whole: Widths = new Map();
    const half = uniformWidths(groups, 0.5, 16);
    // 5 nodes at 0.1 and their shares, and what could not be told apart.
    expect(table.totalMs(whole)).toBeCloseTo(0.5 + 5 * 1.1, 6);
    expect(table.totalMs(half)).toBeCloseTo(0.5 + 0.5 + 0.5 + 0.5 + 0.25 + 0.5 + 0.5, 6);
    const noisy = await scene((share) => (share < 0.5 ? 1 : share));
    expect(noisy.table.totalMs(uniformWidths(noisy.groups, 0.25, 16))).toBeLessThanOrEqual(noisy.table.totalMs(whole));
  });

  it("narrows where it costs least, and goes on in order of speed and error", async () => {
    const { groups, table } = await scene();
    const path = new NarrowingPath(errorsOf(groups), table, 16);
    expect(path.speedup(path.steps[0]!)).toBe(1);
    path.steps.forEach((step, i) => {
      if (i === 0) return;
      expect(step.ms).toBeLessThan(path.steps[i - 1]!.ms);
      expect(step.error).toBeGreaterThan(path.steps[i - 1]!.error);
    });
    const [, first] = path.steps;
    expect(first!.widths.get(groups[0]!)).toBe(64);
    expect(first!.widths.get(groups[1]!)).toBeLessThan(64);
  });

  it("makes a net for a speed of those beside it, and never one that is slower or misses more", async () => {
    const { groups, table } = await scene();
    const path = new NarrowingPath(errorsOf(groups), table, 16);
    for (const wanted of [1, 1.05, 1.2, 1.33, 1.5, 1.8]) {
      const made = path.at(wanted);
      expect(path.speedup(made)).toBeGreaterThanOrEqual(wanted);
      const found = path.steps.find((step) => path.speedup(step) >= wanted)!;
      expect(made.error).toBeLessThanOrEqual(found.error);
    }
    expect(path.at(1000)).toBe(path.fastest);
  });

  it("learns from a race what profiles add to every net", async () => {
    const { groups, table } = await scene();
    const path = new NarrowingPath(errorsOf(groups), table, 16);
    const step = path.at(1.5);
    const told = path.speedup(step);
    path.note(step, { speedup: 1.2 * told, deviation: 0 });
    expect(path.speedup(step)).toBeCloseTo(1.2 * told, 1);
    expect(path.speedup(path.steps[0]!)).toBe(1);
    expect(path.at(1.5).ms).toBeGreaterThanOrEqual(step.ms);
    // Of two races of one net the later one counts, and two nets that contradict one another are met in between.
    path.note(step, { speedup: told / 1.2, deviation: 0 });
    expect(path.speedup(step)).toBeCloseTo(told / 1.2, 1);
    const other = path.at(2);
    const expected = path.speedup(other);
    path.note(other, { speedup: 1.5 * expected, deviation: 0 });
    expect(path.speedup(other)).toBeGreaterThan(expected);
    expect(path.speedup(other)).toBeLessThan(1.5 * expected);
    path.note(path.fastest, { speedup: 1, deviation: 0 });
    expect(path.speedup(path.fastest)).toBeGreaterThan(1);
  });

  it("believes a race as far as it is in no doubt, and the table besides", async () => {
    const { groups, table } = await scene();
    const path = new NarrowingPath(errorsOf(groups), table, 16);
    const [step, other] = [path.at(1.5), path.at(2)];
    const told = path.speedup(step);
    expect(path.believed(step)).toBe(told);
    path.note(other, { speedup: path.speedup(other), deviation: 0 });
    path.note(step, { speedup: 1.3 * told, deviation: 0.15 });
    // A race that is in doubt moves little.
    expect(path.speedup(other)).toBeLessThan(1.1 * 2);
    expect(path.believed(step)).toBeGreaterThan(path.speedup(step));
    expect(path.believed(step)).toBeLessThan(1.15 * told);
    path.note(step, { speedup: 1.3 * told, deviation: 0 });
    expect(path.believed(step)).toBeCloseTo(1.3 * told, 6);
  });
});
