import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadModel, parseModel, saveModel } from "../../../src/ir/index.js";
import { newTap, observeTensor } from "../../../src/observe/index.js";
import { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { placeStatics, whyHopeless } from "../../../src/pipeline/place/place-statics.js";
import { makeNamesUnique } from "../../../src/quantization/names.js";
import type { IntegerTarget } from "../../../src/target/integer-kernel.js";
import type { KernelTimes } from "../../../src/target/kernel-times.js";
import { staticVariantOf } from "../../support/candidates.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { safeTarget } from "../../support/quantize-text.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const chain = `(x: f32[1,4]) -> (c) {
  a = MatMul(x, $k: f32[4,4])
  b = MatMul(a, $l: f32[4,4])
  c = MatMul(b, $m: f32[4,4])
}`;

/** Milliseconds of each product in float and as integers, told by whether its weights are integers in the file. */
type Times = Readonly<Record<"a" | "b" | "c", readonly [number, number]>>;

class Clock extends FakeRuntime {
  constructor(readonly times: Times) {
    super({});
  }

  override async nodeTimes(models: readonly string[]) {
    this.profiled.push(models);
    return models.map((path) => {
      const { graph } = loadModel(path);
      return [...graph.nodes()].flatMap((node) => {
        const times = this.times[node.name.replace("MatMul:", "") as keyof Times];
        if (!times) return [];
        const isInteger = node.inputs[1]?.producer?.op === "DequantizeLinear";
        return [{ name: node.name, op: "MatMul", ms: times[isInteger ? 1 : 0] }];
      });
    });
  }
}

const search = (times: Times, target?: IntegerTarget, ...integers: readonly string[]) =>
  searchIn(chain, times, target, ...integers);

async function searchIn(
  text: string,
  times: Times,
  target: IntegerTarget = safeTarget,
  ...integers: readonly string[]
) {
  const folder = temporaryFolder();
  const model = parseModel(text);
  makeNamesUnique(model);
  const prepared = join(folder, "prepared.onnx");
  saveModel(model, prepared).commit();
  const made = [...model.graph.nodes()].map(({ output }) => output);
  const taps = [...model.graph.inputs, ...made].map(({ label }) => {
    const tap = newTap(label);
    observeTensor(tap, Float32Array.of(-1, 0, 1, 2));
    return [label, tap] as const;
  });
  const runtime = new Clock(times);
  const options = {
    original: prepared,
    prepared,
    target,
    taps: new Map(taps),
    trial: { path: "samples.npz" },
    excluded: new Map<string, string>(),
    runtime: runtimeConfig(),
  };
  const workshop = new Workshop(options, fakeContext(runtime, { scratch: folder }));
  const variant = staticVariantOf({ neighbours: true, depthwise: true });
  const found = await placeStatics(variant, workshop, new Set(integers));
  return { found, runtime, folder };
}

async function place(...asked: Parameters<typeof search>) {
  const { found, runtime } = await search(...asked);
  return { kept: found!.placed.map(({ keptFloat }) => [...keptFloat.keys()]), ...found!, runtime };
}

describe("placeStatics", () => {
  it("leaves float what does not pay, and names what was timed besides", async () => {
    const { kept, tried, placed } = await place({ a: [4, 1], b: [1, 3], c: [4, 1] });
    expect(kept).toEqual([["MatMul:b"]]);
    expect(tried.map(({ keptFloat }) => keptFloat.size)).toEqual([0]);
    expect(placed[0]!.speedup).toBeCloseTo(9.003 / 3.003);
  });

  it("offers the first product in float where that costs little time", async () => {
    const { kept, placed } = await place({ a: [1.02, 1], b: [4, 1], c: [4, 1] });
    expect(kept).toEqual([[], ["MatMul:a"]]);
    expect(placed[1]!.keptFloat.get("MatMul:a")).toContain("reads the inputs");
  });

  it("offers what follows it too, one after the other, as far as that is near in time", async () => {
    const { kept } = await place({ a: [1.02, 1], b: [1.2, 1], c: [100, 40] });
    expect(kept).toEqual([[], ["MatMul:a"], ["MatMul:a", "MatMul:b"]]);
  });

  it("times what may cost a little more, and does not offer it where it does", async () => {
    const { kept, tried } = await place({ a: [1.2, 1], b: [4, 1], c: [4, 1] });
    expect(kept).toEqual([[]]);
    expect(tried.map(({ keptFloat }) => [...keptFloat.keys()])).toEqual([["MatMul:a"]]);
  });

  it("does not try it where that costs much", async () => {
    const { kept, tried } = await place({ a: [1.4, 1], b: [4, 1], c: [4, 1] });
    expect([kept, tried]).toEqual([[[]], []]);
  });

  it("leaves out what has a node in float that is to be integers", async () => {
    const near: Times = { a: [1.02, 1], b: [1.2, 1], c: [100, 40] };
    expect((await place(near, safeTarget, "MatMul:b")).kept).toEqual([[], ["MatMul:a"]]);
    expect((await place(near, safeTarget, "MatMul:a")).kept).toEqual([[]]);
    expect((await place(near, safeTarget, "MatMul:c")).kept).toHaveLength(3);
  });

  it("places nothing where such a node does not pay, and times nothing more then", async () => {
    const times: Times = { a: [1.02, 1], b: [1, 3], c: [4, 1] };
    const { found, runtime, folder } = await search(times, safeTarget, "MatMul:b");
    expect(found).toBeNull();
    expect(runtime.profiled.map((models) => models.length)).toEqual([2, 3]);
    expect(readdirSync(folder).filter((name) => name.includes("candidate"))).toEqual([]);
  });

  it("does not try again what was slower by little", async () => {
    // In float the first product is faster, and the model by less than noise is.
    const { kept, tried, runtime } = await place({ a: [1, 1.1], b: [4, 1], c: [4, 3.9] });
    expect(kept).toEqual([[], ["MatMul:a"]]);
    expect(tried).toEqual([]);
    expect(runtime.profiled.map((models) => models.length)).toEqual([2, 3]);
  });

  it("leaves no files", async () => {
    const { placed, tried } = await place({ a: [1.02, 1], b: [1.2, 1], c: [4, 1] });
    const made = [...placed, ...tried] as unknown as { built: { path: string } }[];
    expect(made.map(({ built }) => existsSync(built.path))).toEqual([false, false, false]);
  });
});

describe("placeStatics with a table of kernels", () => {
  /** In the profile everything pays, and the first product only just. */
  const profiled: Times = { a: [1.02, 1], b: [4, 1], c: [4, 1] };
  const tableOf = (times: Times, other: readonly [number, number] = [0, 0]): IntegerTarget => ({
    ...safeTarget,
    times: {
      node: ({ name }, { read }) => {
        const [floatMs, integerMs] = times[name.replace("MatMul:", "") as keyof Times] ?? other;
        return read > 0 ? { floatMs, integerMs } : null;
      },
      conversionMs: () => 0.004,
      activationMs: () => 0,
      paddedDepth: () => 0,
      widened: (node) => node.int("group", 1),
    },
  });

  it("offers in float what gains little, and then the inputs and what follows them, as far as that is near in time", async () => {
    // The middle one gains a twelfth of its time, and next to nothing of the model's.
    const little = tableOf({ a: [40, 10], b: [60, 55], c: [400, 100] });
    expect((await place(profiled, little)).kept).toEqual([[], ["MatMul:b"]]);
    const steps = tableOf({ a: [1.02, 1], b: [1.2, 1], c: [100, 40] });
    expect((await place(profiled, steps)).kept).toEqual([[], ["MatMul:a"], ["MatMul:a", "MatMul:b"]]);
    const far = tableOf({ a: [1.02, 1], b: [8, 1], c: [100, 40] });
    expect((await place(profiled, far)).kept).toEqual([[], ["MatMul:a"]]);
  });

  it("offers neighbours in float that something is converted for, unless that takes much longer", async () => {
    const beside = `(x: f32[1,4], z: f32[1,4]) -> (c) {
      a = MatMul(x, $k: f32[4,4])
      t = Tanh(z)
      s = Add(a, t)
      c = MatMul(s, $m: f32[4,4])
    }`;
    const keptBy = async (other: readonly [number, number]) => {
      const { found } = await searchIn(beside, profiled, tableOf({ a: [4, 1], b: [1, 1], c: [4, 1] }, other));
      return found!.placed.map(({ keptFloat }) => [...keptFloat.keys()]);
    };
    expect((await keptBy([0.5, 0.3])).slice(0, 2)).toEqual([[], ["Add:s"]]);
    expect(await keptBy([3, 0.3])).toEqual([[]]);
    expect((await keptBy([0.3, 0.9]))[0]).toEqual(["Add:s"]);
  });

  it("leaves a neighbour in float whose integer kernel takes longer than floats and conversions, and no product with it", async () => {
    const between = `(x: f32[1,4]) -> (c) {
      a = MatMul(x, $k: f32[4,4])
      s = Softmax(a)
      c = MatMul(s, $m: f32[4,4])
    }`;
    const keptBy = async (other: readonly [number, number]) => {
      const { found } = await searchIn(between, profiled, tableOf({ a: [4, 1], b: [1, 1], c: [4, 1] }, other));
      return [...found!.placed[0]!.keptFloat];
    };
    expect(await keptBy([0.5, 3])).toEqual([
      ["Softmax:s", "its integer kernel is slower: 3.0 ms, and 0.500 ms in float with 0.008 ms for conversions"],
    ]);
    // What it reads and makes would be converted, 0.004 ms each.
    expect(await keptBy([0.5, 0.507])).toEqual([]);
    expect(await keptBy([0.5, 0.509])).toHaveLength(1);
  });

  it("leaves out what has a node in float that is to be integers", async () => {
    const steps = tableOf({ a: [1.02, 1], b: [1.2, 1], c: [100, 40] });
    expect((await place(profiled, steps, "MatMul:b")).kept).toEqual([[], ["MatMul:a"]]);
    expect((await search(profiled, tableOf({ a: [4, 1], b: [1, 3], c: [4, 1] }), "MatMul:b")).found).toBeNull();
  });

  it("tells the widest placement where it leaves more in float: all but neighbours whose kernels are slow", async () => {
    const widerOf = async (text: string, target: IntegerTarget) => {
      const { wider } = (await searchIn(text, profiled, target)).found!.placed[0]!;
      return wider && [[...wider.keptFloat.keys()], wider.gain < 1];
    };
    expect(await widerOf(chain, tableOf({ a: [4, 1], b: [1, 3], c: [4, 1] }))).toEqual([[], true]);
    expect(await widerOf(chain, tableOf({ a: [4, 1], b: [4, 1], c: [4, 1] }))).toBeUndefined();
    const slow = `(x: f32[1,4]) -> (c) {
      a = MatMul(x, $k: f32[4,4])
      s = Softmax(a)
      b = MatMul(s, $l: f32[4,4])
      c = MatMul(b, $m: f32[4,4])
    }`;
    expect(await widerOf(slow, tableOf({ a: [4, 1], b: [1, 3], c: [4, 1] }, [0.5, 3]))).toEqual([["Softmax:s"], true]);
  });

  it("asks no profile, which noise would be in", async () => {
    const { kept, runtime, placed, tried } = await place(profiled, tableOf({ a: [4, 1], b: [1, 3], c: [4, 1] }));
    expect(kept).toEqual([["MatMul:b"]]);
    expect([runtime.profiled, tried]).toEqual([[], []]);
    // Two tensors are converted on each side of what is float, and one behind each end.
    expect(placed[0]!.speedup).toBeGreaterThan(9 / 3.05);
    expect(placed[0]!.speedup).toBeLessThan(9 / 3);
  });

  it("offers the first product in float where that costs little time", async () => {
    const near = tableOf({ a: [1.02, 1], b: [4, 1], c: [4, 1] });
    expect((await place(profiled, near)).kept).toEqual([[], ["MatMul:a"]]);
    const far = tableOf({ a: [2, 1], b: [4, 1], c: [4, 1] });
    expect((await place(profiled, far)).kept).toEqual([[]]);
  });

  it("keeps integers what loses next to nothing of the model's time and takes a part of its room", async () => {
    expect((await place(profiled, tableOf({ a: [40, 10], b: [1, 2], c: [400, 100] }))).kept[0]).toEqual([]);
    expect((await place(profiled, tableOf({ a: [40, 10], b: [1, 9], c: [400, 100] }))).kept[0]).toEqual(["MatMul:b"]);
  });

  it("places nothing where nothing pays, and says how far it is from that", async () => {
    const { found, runtime, folder } = await search(profiled, tableOf({ a: [1, 2], b: [1, 3], c: [1, 1.9] }));
    expect(found!.placed).toEqual([]);
    const { regions } = found!.hopeless!;
    expect(regions.map(({ region }) => region)).toEqual(["MatMul:a", "MatMul:b", "MatMul:c"]);
    expect(regions.every(({ form, reason }) => form === "float" && reason.startsWith("does not pay: "))).toBe(true);
    expect(found!.hopeless!.speedup).toBeCloseTo(3 / 6.9, 2);
    expect(whyHopeless(found!.hopeless!)).toBe(
      "static integers pay nowhere in the model: by the table of kernel times, all nodes that could be would run at 0.43x of their speed",
    );
    expect(runtime.profiled).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes("candidate"))).toEqual([]);
  });

  it("gives reasons of the times that it tells, also of what goes to float after others", async () => {
    // Once the one branch is float the sum is too, with which the other paid.
    const text = `(x: f32[1,4]) -> (c) {
      a = MatMul(x, $k: f32[4,4])
      b = MatMul(x, $l: f32[4,4])
      s = Add(a, b)
      c = MatMul(s, $m: f32[4,4])
    }`;
    const table = tableOf({ a: [1, 5], b: [1, 1.3], c: [1, 1.5] });
    const node: KernelTimes["node"] = (of, elements) =>
      of.op === "Add" ? { floatMs: 1, integerMs: 0.1 } : table.times!.node(of, elements);
    const { found } = await searchIn(text, profiled, { ...table, times: { ...table.times!, node } });
    const { regions } = found!.hopeless!;
    expect(regions.map(({ nodes, beforeMs }) => [nodes, beforeMs])).toEqual([
      [["MatMul:a"], 1],
      [["MatMul:b", "Add:s"], 2],
      [["MatMul:c"], 1],
    ]);
    expect(regions[1]!.afterMs).toBeCloseTo(1.4, 1);
    expect(regions.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^does not pay: 5\.0 ms as integers and .* 1\.0 ms in float$/),
      expect.stringMatching(/^would pay beside integers alone.*: 1\.4 ms as integers and .* 2\.0 ms in float$/),
      expect.stringMatching(/^does not pay: 1\.5 ms as integers and .* 1\.0 ms in float$/),
    ]);
  });

  it("places nothing at all, and says nothing, where a node that is to be integers does not pay", async () => {
    const nothing = tableOf({ a: [1, 2], b: [1, 3], c: [1, 1.9] });
    expect((await search(profiled, nothing, "MatMul:b")).found).toBeNull();
  });

  it("gives reasons that the times of the table bear out", async () => {
    const reasonsOf = async (times: Times) => {
      const { placed } = await place(profiled, tableOf(times));
      return placed.map(({ keptFloat }) => [...keptFloat.values()].map((reason) => reason.split(/[:,]/)[0]));
    };
    const [, slower] = (await place(profiled, tableOf({ a: [1.2, 1], b: [4, 1], c: [100, 40] }))).placed;
    expect(slower!.keptFloat.get("MatMul:a")).toMatch(/^reads the inputs: 0\.196 ms slower in float/);
    expect(await reasonsOf({ a: [1.02, 1], b: [4, 1], c: [4, 1] })).toEqual([[], ["gains little"]]);
    expect(await reasonsOf({ a: [1, 1.05], b: [4, 1], c: [4, 1] })).toEqual([[], ["does not pay"]]);
    expect(await reasonsOf({ a: [40, 10], b: [60, 55], c: [400, 100] })).toEqual([[], ["gains little"]]);
    expect(await reasonsOf({ a: [4, 1], b: [1, 3], c: [4, 1] })).toEqual([["does not pay"]]);
  });

  it("leaves integers what the table does not know", async () => {
    const { a, c } = profiled;
    const target = tableOf({ a, b: [1, 9], c });
    const { times } = target;
    const silent: IntegerTarget = {
      ...target,
      times: { ...times!, node: (node, n) => (node.name === "MatMul:b" ? null : times!.node(node, n)) },
    };
    expect((await place(profiled, silent)).kept[0]).toEqual([]);
  });
});
