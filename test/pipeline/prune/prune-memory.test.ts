import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PruneMemory, type TriedNet } from "../../../src/pipeline/prune/prune-memory.js";
import { SearchFiles } from "../../../src/pipeline/resume/search-files.js";
import type { LatencyMeasure } from "../../../src/pipeline/verdict/verdict.js";
import { groupsOf } from "../../support/sliced.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const net = `(x: f32[N,3,4,4]) -> (y) {
  c = Conv "first" <kernel_shape=[1,1]>(x, $w: f32[6,3,1,1], $b: f32[6])
  r = Relu(c)
  y = Conv "last" <kernel_shape=[1,1]>(r, $v: f32[2,6,1,1])
}`;

/** A run beside the same output, each time that it is called. */
function runs() {
  const output = join(temporaryFolder(), "out.onnx");
  return () => new PruneMemory(SearchFiles.beside(output, "this", "speed", { warn: () => {} }));
}

describe("PruneMemory", () => {
  it("gives a plan back in terms of a model that was read again", async () => {
    const open = runs();
    const map = await groupsOf(net);
    const [group] = map.groups;
    const [first] = [...map.model.graph.nodes()];
    const removal = { order: Int32Array.of(2, 0, 1, 3, 4, 5), errors: Float64Array.of(0, 0.1, 0.2, 0.3, 0.4, 1 / 3) };
    const measures = {
      errors: new Map([[group!, { removal, scale: 1 / 7, none: null }]]),
      nets: [{ widths: new Map([[group!, 4]]), times: new Map([[first!, 0.1]]), totalMs: 0.3 }],
      without: new Map([[group!, 0.25]]),
    };
    const kept = open();
    expect(kept.plan(map)).toBeNull();
    kept.keepPlan({ order: new Map([[group!, removal]]), measures }, map);

    const again = await groupsOf(net);
    const plan = open().plan(again)!;
    const own = again.groups[0]!;
    expect(plan.order.get(own)).toEqual(removal);
    expect(plan.measures!.errors.get(own)).toEqual({ removal, scale: 1 / 7, none: null });
    expect([...plan.measures!.nets[0]!.times]).toEqual([[[...again.model.graph.nodes()][0], 0.1]]);
    expect(plan.measures!.nets[0]).toMatchObject({ widths: new Map([[own, 4]]), totalMs: 0.3 });
    expect(plan.measures!.without.get(own)).toBe(0.25);
  });

  it("gives nets and races back, by their widths", () => {
    const open = runs();
    const tried = {
      ...{ bytes: 5, sha256: "a", report: null, nonsense: null },
      accuracy: { isRate: true, facts: { candidate: 0.5 } },
      recovery: { step: 3, before: 0.2, after: 0.1, history: [], blocked: new Map([["round", "it has no gradient"]]) },
    } as unknown as TriedNet;
    const latency = { facts: { speedup: 1.5 } } as LatencyMeasure;
    const kept = open();
    kept.keepTried("4,8", tried);
    kept.keepRace("4,8, not fitted", latency);
    const again = open();
    expect(again.tried("4,8")).toEqual(tried);
    expect(again.race("4,8, not fitted")).toEqual(latency);
    expect([again.tried("4,4"), again.race("4,8")]).toEqual([null, null]);
  });

  it("keeps nothing where no file is written", async () => {
    const map = await groupsOf(net);
    const memory = new PruneMemory(null);
    memory.keepPlan({ order: new Map(), measures: null }, map);
    expect([memory.plan(map), memory.tried("4"), memory.race("4")]).toEqual([null, null, null]);
  });
});
