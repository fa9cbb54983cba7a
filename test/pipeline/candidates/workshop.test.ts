import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { loadModel, parseModel, saveModel } from "../../../src/ir/index.js";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import type { Candidate, Variant } from "../../../src/pipeline/candidates/candidate.js";
import { approximatingFor } from "../../../src/pipeline/candidates/finishing.js";
import { Workshop, type WorkshopOptions } from "../../../src/pipeline/candidates/workshop.js";
import { Journal } from "../../../src/pipeline/journal.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import type { ScoreJob } from "../../../src/runtime/port.js";
import type { KernelTimes } from "../../../src/target/kernel-times.js";
import { integersVariant, staticVariant } from "../../support/candidates.js";
import { type FakeModel, FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { safeTarget } from "../../support/quantize-text.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const text = "(x: f32[2,64]) -> (y) { a = MatMul(x, $w: f32[64,64])\n y = MatMul(a, $v: f32[64,64]) }";

const [dynamic, weights] = [integersVariant("dynamic"), integersVariant("weights8")];

/** A runtime that refuses some models and finds the others a little off. */
class PickyRuntime extends FakeRuntime {
  constructor(
    readonly refuses: (path: string) => string | null,
    models: Record<string, FakeModel>,
  ) {
    super(models);
  }

  override async score(job: ScoreJob) {
    const code = job.models.map(this.refuses).find((found) => found !== null);
    if (code) throw new InferOptError(code, "runtime", "no such kernel", { hint: "" });
    return super.score(job);
  }
}

function workshop(refuses: (path: string) => string | null = () => null, models: Record<string, FakeModel> = {}) {
  const folder = temporaryFolder();
  const model = parseModel(text);
  makeNamesUnique(model);
  const prepared = join(folder, "prepared.onnx");
  saveModel(model, prepared).commit();
  const runtime = new PickyRuntime(refuses, models);
  const options = {
    original: prepared,
    prepared,
    target: safeTarget,
    taps: null,
    trial: { path: "samples.npz" },
    excluded: new Map([["MatMul:y", "left out"]]),
    runtime: runtimeConfig(),
  };
  return { runtime, shop: new Workshop(options, fakeContext(runtime, { scratch: folder })) };
}

/** By its table, integers take a third of the time of floats. */
const thrice = {
  ...safeTarget,
  times: {
    node: () => ({ floatMs: 6, integerMs: 2 }),
    conversionMs: () => 0,
    activationMs: () => 0,
    paddedDepth: () => 0,
    widened: (node) => node.int("group", 1),
  } satisfies KernelTimes,
};

describe("Workshop", () => {
  it("asks a table where the target has one, and of static integers alone", () => {
    const { shop } = workshop();
    const times: KernelTimes = {
      node: () => null,
      conversionMs: () => 0,
      activationMs: () => 0,
      paddedDepth: () => 0,
      widened: (node) => node.int("group", 1),
    };
    const tabled = new Workshop({ ...shop.options, target: { ...safeTarget, times } }, shop.context);
    for (const [asked, variant, isByTable] of [
      [shop, staticVariant, false],
      [tabled, staticVariant, true],
      [tabled, dynamic, false],
    ] as const) {
      expect(asked.isByTable({ variant })).toBe(isByTable);
      expect(asked.estimate(asked.plan(variant)) !== null).toBe(isByTable);
    }
  });

  it("knows of the whole run what the table leaves out by how much slower than that it is", () => {
    const { shop } = workshop();
    const tabled = new Workshop({ ...shop.options, target: thrice }, shop.context);
    const products = [...tabled.model.graph.nodes()].length;
    const plan = tabled.plan(staticVariant);
    const [floatMs, ownMs] = [6 * products, 2 * plan.built.forms.size + 6 * (products - plan.built.forms.size)];
    const runMs = (speedup: number | null): number | null => tabled.runMs({ ...plan, speedup } as Candidate);
    for (const speedup of [floatMs / ownMs, 99, 1, null]) expect(runMs(speedup)).toBe(ownMs);
    const rest = 5;
    expect(runMs((floatMs + rest) / (ownMs + rest))).toBeCloseTo(ownMs + rest);
    const [first] = tabled.model.graph.nodes();
    expect(tabled.floatShare([first!.name])).toBeCloseTo(1 / products);
    expect(shop.floatShare([first!.name])).toBeNull();
    expect(shop.runMs({ ...plan, speedup: 2 } as Candidate)).toBeNull();
  });

  it("approximates what stands between integers, and leaves float candidates exact", () => {
    const { shop } = workshop();
    const gelu = parseModel("(x: f32[2,64]) -> (p, g) { p = MatMul(x, $w: f32[64,64])\n g = Gelu(x) }", { opset: 20 });
    for (const { value } of gelu.graph.outputs) value.type = { dtype: "f32", shape: null };
    makeNamesUnique(gelu);
    saveModel(gelu, shop.options.prepared).commit();
    const formOf = (chosen: Partial<WorkshopOptions>, variant: Variant): string => {
      const { built } = new Workshop({ ...shop.options, ...chosen }, shop.context).make(variant);
      const [node] = [...loadModel(built.path).graph.nodes()].filter(({ opName }) => opName === "Gelu");
      return node!.string("approximate", "none");
    };
    const approximating = approximatingFor({ skip: [], only: [] });
    expect(formOf({ approximating }, dynamic)).toBe("tanh");
    expect(formOf({ approximating }, { kind: "fused" })).toBe("none");
    expect(formOf({}, dynamic)).toBe("none");
    expect(formOf({ approximating, excluded: new Map([["MatMul:p", "left out"]]) }, dynamic)).toBe("none");
  });

  it("leaves float what was excluded and what a search kept, and names the candidate after it", () => {
    const { shop } = workshop();
    expect(shop.make(dynamic)).toMatchObject({
      name: "int8 dynamic",
      built: { forms: new Map([["MatMul:a", "dynamic"]]) },
    });
    const kept = shop.make(dynamic, new Map([["MatMul:a", "costs too much"]]));
    expect(kept).toMatchObject({ name: "int8 dynamic -1 region", built: { forms: new Map() } });
  });

  it("has ranges for more integers once they were observed, and keeps those that it had", async () => {
    const tapOf = (label: string, most: number) => {
      const tap = newTap(label);
      observeTensor(tap, Float32Array.of(-1, most));
      return [label, tap] as const;
    };
    const asked: string[][] = [];
    const observe = async (kept: ReadonlyMap<string, string>) => {
      asked.push([...kept.keys()]);
      return new Map([tapOf("x", 9), tapOf("a", 1)]);
    };
    const { shop } = workshop();
    const options = { ...shop.options, excluded: new Map<string, string>(), taps: new Map([tapOf("x", 1)]) };
    const own = new Workshop({ ...options, observe }, shop.context);
    const before = own.make(staticVariant);
    await own.observeFor(new Map([["MatMul:a", "slow"]]));
    const after = own.make(staticVariant);
    expect(asked).toEqual([["MatMul:a"]]);
    expect([...before.built.forms.keys()]).toEqual([]);
    expect([...after.built.forms.keys()]).toEqual(["MatMul:a", "MatMul:y"]);
    const [first] = [...loadModel(after.built.path).graph.nodes()].filter(({ op }) => op === "QuantizeLinear");
    expect(first!.inputs[1]!.constant!.f32()[0]).toBeCloseTo(2 / 255, 5);
    // A file of ranges has all of them.
    const complete = new Workshop({ ...options, taps: new Map([tapOf("x", 1), tapOf("a", 1)]) }, shop.context);
    await complete.observeFor(new Map());
    expect(complete.make(staticVariant).built.forms.size).toBe(2);
  });

  it("brings back what it discarded, the same bytes", () => {
    const { shop } = workshop();
    const candidate = shop.make(weights);
    const { path } = candidate.built;
    const bytes = readFileSync(path);
    shop.discard(candidate);
    expect(existsSync(path)).toBe(false);
    shop.restore(candidate);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("tells all speeds beside the original once that was profiled, also of what is profiled without it", async () => {
    const models: Record<string, FakeModel> = {};
    const { shop } = workshop(undefined, models);
    const original = `${shop.options.prepared}.original`;
    const beside = new Workshop({ ...shop.options, original, target: thrice }, shop.context);
    const [fused, integers, next] = [{ kind: "fused" } as const, dynamic, weights].map((each) => beside.make(each));
    const takes = (path: string, ms: number): void => {
      models[path] = { nodes: [{ name: "all", op: "All", ms }] };
    };
    takes(original, 12);
    takes(shop.options.prepared, 8);
    takes(fused!.built.path, 8);
    takes(integers!.built.path, 4);
    takes(next!.built.path, 5);
    await beside.measureSpeed([integers!], 0);
    expect(integers!.speedup).toBeCloseTo(2, 2);
    expect(beside.estimatesBeside).toBe("rewritten");
    const earlier = { ...integers! };
    const timed = { ...integers!, estimate: 2, speedup: 1.9 };
    await beside.measureSpeed([fused!, integers!], 0);
    expect(beside.estimatesBeside).toBe("original");
    beside.reckonBesideOriginal([earlier, integers!, timed]);
    expect(timed.estimate).toBeCloseTo(3, 2);
    expect(timed.speedup).toBe(1.9);
    await beside.measureSpeed([next!], 0);
    for (const [each, speedup] of [
      [fused!, 1.5],
      [integers!, 3],
      [earlier, 3],
      [next!, 2.4],
    ] as const) {
      expect(each.speedup).toBeCloseTo(speedup, 2);
    }
    expect(beside.besideFloat(3)).toBeCloseTo(2, 2);
    const runMs = (of: Workshop, speedup: number) => of.runMs({ ...of.plan(staticVariant), speedup } as Candidate);
    const unfused = new Workshop({ ...beside.options, original: shop.options.prepared }, shop.context);
    expect(runMs(beside, 1.5 * 1.2)).toBeCloseTo(runMs(unfused, 1.2)!, 1);
  });

  describe("tells integers with what fusing gains, and float ones are profiled with them or apart", () => {
    /** The original takes 12 ms, what integers are made of 8, and they 4. */
    function halved(journal: Journal | null = null, bytes = 64 << 20) {
      const models: Record<string, FakeModel> = {};
      const { shop } = workshop(undefined, models);
      const original = `${shop.options.prepared}.original`;
      const beside = new Workshop({ ...shop.options, original, bytesOf: () => bytes }, shop.context, journal);
      const made = [{ kind: "fused" } as const, dynamic, weights].map((each) => beside.make(each));
      const [fused, integers, others] = made as [Candidate, Candidate, Candidate];
      for (const [path, ms] of [
        [original, 12],
        [shop.options.prepared, 8],
        ...[fused, integers, others].map(({ built }, i) => [built.path, [8, 4, 4][i]!] as const),
      ] as const) {
        models[path] = { nodes: [{ name: "all", op: "All", ms }] };
      }
      return { beside, fused, integers, others };
    }

    it("whichever comes first", async () => {
      const { beside, fused, integers } = halved();
      await beside.measureSpeed([integers, fused], 0);
      expect(integers.speedup).toBeCloseTo(3, 2);
      expect(fused.speedup).toBeCloseTo(1.5, 2);
    });

    it("when they are recalled, and some were profiled without float ones since", async () => {
      const journal = new Journal(join(temporaryFolder(), "out.onnx.journal.jsonl"), "this", () => {});
      const before = halved(journal, 1);
      await before.beside.measureSpeed([before.integers, before.fused], 0);
      await before.beside.measureSpeed([before.integers, before.others], 0);
      const { beside, fused, integers } = halved(journal, 1);
      await beside.measureSpeed([integers, fused], 0);
      expect(integers.times).not.toHaveProperty("original");
      expect(integers.speedup).toBeCloseTo(3, 2);
      expect(beside.besideFloat(3)).toBeCloseTo(2, 2);
    });
  });

  it("recalls speeds as they were corrected, and leaves those alone that nobody knows", async () => {
    const models: Record<string, FakeModel> = {};
    const { shop } = workshop(undefined, models);
    const journal = new Journal(join(temporaryFolder(), "out.onnx.journal.jsonl"), "this", () => {});
    const made = () => {
      const own = new Workshop(shop.options, shop.context, journal);
      const candidate = own.make(dynamic);
      for (const path of [shop.options.prepared, candidate.built.path]) {
        models[path] = { nodes: [{ name: "all", op: "All", ms: path === candidate.built.path ? 4 : 8 }] };
      }
      return { own, candidate };
    };
    const { own, candidate } = made();
    own.correctSpeed([candidate], 2);
    expect(candidate.speedup).toBeNull();
    await own.measureSpeed([candidate], 0);
    own.correctSpeed([candidate], 0.75);
    expect(candidate.speedup).toBeCloseTo(1.5, 2);
    const again = made();
    await again.own.measureSpeed([again.candidate], 0);
    expect(again.candidate.speedup).toBe(candidate.speedup);
  });

  it("measures each while the next is made, in order", async () => {
    const { shop } = workshop();
    const wanted = [dynamic, weights].map((variant) => ({ variant, keptFloat: new Map<string, string>() }));
    const made = await shop.makeMeasured(wanted);
    expect(made.map(({ variant }) => variant)).toEqual([dynamic, weights]);
    for (const { built, sqnrDb } of made)
      expect([existsSync(built.path), Number.isFinite(sqnrDb)]).toEqual([true, true]);
  });

  it("measures none that are known or not wanted", async () => {
    const { shop } = workshop();
    const wanted = [
      { variant: dynamic, keptFloat: new Map(), known: { sqnrDb: 7, note: "known" } },
      { variant: weights, keptFloat: new Map() },
      { variant: dynamic, keptFloat: new Map() },
    ];
    const told: (readonly (number | null)[])[] = [];
    const made = await shop.makeMeasured(wanted, ({ variant }, before) => {
      told.push(before.map(({ sqnrDb }) => sqnrDb));
      return variant === weights;
    });
    expect(made.map(({ sqnrDb, note }) => [sqnrDb, note])).toEqual([
      [7, "known"],
      [1, ""],
      [null, ""],
    ]);
    expect(told).toEqual([[7], [7, 1]]);
    expect(made.every(({ built }) => existsSync(built.path))).toBe(true);
  });

  it("measures the first when what its process was given meanwhile is done", async () => {
    let isDone = false;
    const meanwhile = async () => {
      await setImmediate();
      isDone = true;
    };
    const seen: boolean[] = [];
    const { shop } = workshop(() => {
      seen.push(isDone);
      return null;
    });
    const busy = new Workshop({ ...shop.options, meanwhile }, shop.context);
    const [made] = await busy.makeMeasured([{ variant: dynamic, keptFloat: new Map() }]);
    expect(made!.sqnrDb).toBe(1);
    expect(new Set(seen)).toEqual(new Set([true]));
  });

  it("fails with what its process was given meanwhile", async () => {
    const { shop } = workshop();
    const busy = new Workshop(
      { ...shop.options, meanwhile: () => Promise.reject(new Error("no profile")) },
      shop.context,
    );
    await expect(busy.makeMeasured([{ variant: dynamic, keptFloat: new Map() }])).rejects.toThrow("no profile");
  });

  it("leaves none behind when measuring one fails for good", async () => {
    const seen: string[] = [];
    const { shop } = workshop((path) => {
      if (path.includes("candidate")) seen.push(path);
      return seen.length > 1 ? "SCRATCH_GONE" : null;
    });
    const wanted = [dynamic, weights, dynamic].map((variant) => ({ variant, keptFloat: new Map<string, string>() }));
    await expect(shop.makeMeasured(wanted)).rejects.toMatchObject({ code: "SCRATCH_GONE" });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.filter((path) => existsSync(path))).toEqual([]);
  });

  it("measures the others when the runtime refuses one", async () => {
    const broken: string[] = [];
    const { shop } = workshop((path) => (broken.includes(path) ? "MODEL_REJECTED" : null));
    const made = [shop.make(dynamic), shop.make(weights), shop.make({ kind: "fused" })];
    broken.push(made[1]!.built.path);
    await shop.measureError(made);
    expect(made.map(({ sqnrDb }) => sqnrDb)).toEqual([1, Number.NEGATIVE_INFINITY, 1]);
    expect(made.map(({ note }) => note)).toEqual(["", "the runtime refuses it: no such kernel", ""]);
  });

  it("blames no candidate where the runtime dies of the original", async () => {
    const { shop, runtime } = workshop((path) => (path === shop.options.prepared ? null : "RUNTIME_CRASHED"));
    const one = shop.make(dynamic);
    await shop.measureError([one]);
    expect(one).toMatchObject({ sqnrDb: Number.NEGATIVE_INFINITY, note: "the runtime refuses it: no such kernel" });
    const crash = new InferOptError("RUNTIME_CRASHED", "runtime", "it died of the original");
    runtime.describe = async () => Promise.reject(crash);
    await expect(shop.measureError([shop.make(weights)])).rejects.toBe(crash);
  });

  it("has no number where squares of the answers are too large for one", async () => {
    const { shop, runtime } = workshop();
    const made = shop.make(dynamic);
    const score = runtime.score.bind(runtime);
    runtime.score = async (job) => ({
      ...(await score(job)),
      scores: job.models.map(() => Float64Array.of(20, Number.NaN)),
    });
    await shop.measureError([made]);
    expect(made).toMatchObject({ sqnrDb: Number.NEGATIVE_INFINITY });
    expect(made).not.toHaveProperty("pooledDb");
  });

  it("recalls what a run before it measured: the mean, and of all samples together", async () => {
    const { shop, runtime } = workshop();
    const path = join(temporaryFolder(), "out.onnx.journal.jsonl");
    const measured = async () => {
      const journal = new Journal(path, "this", () => {});
      const own = new Workshop(shop.options, shop.context, journal);
      const made = [own.make(dynamic), own.make(weights)];
      await own.measureError(made);
      return made.map(({ sqnrDb, pooledDb, note }) => ({ sqnrDb, pooledDb, note }));
    };
    const score = runtime.score.bind(runtime);
    runtime.score = async (job) => ({
      ...(await score(job)),
      scores: job.models.map(() => Float64Array.of(20, 10)),
      energies: Float64Array.of(3, 1),
    });
    const first = await measured();
    expect(first[0]!.sqnrDb).toBe(15);
    expect(first[0]!.pooledDb).toBeCloseTo(10 * Math.log10(4 / 0.13), 12);
    runtime.score = () => Promise.reject(new Error("asked again"));
    expect(await measured()).toEqual(first);
  });

  it("does not take other faults for a candidate's", async () => {
    const { shop } = workshop(() => "RUNTIME_UNAVAILABLE");
    await expect(shop.measureError([shop.make({ kind: "fused" })])).rejects.toThrow("no such kernel");
  });
});
