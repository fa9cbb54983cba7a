import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { type DType, parseModel, saveModel } from "../../../src/ir/index.js";
import { checkEquivalence, isOpenedToo } from "../../../src/pipeline/prepare/equivalence.js";
import type { Runtime } from "../../../src/runtime/port.js";
import { differenceOf, FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** What is said of a result that is off by `maxAbs` of 1. */
async function outcomeOf(
  dtype: DType,
  maxAbs: number,
  { numerics = "rounding" as "exact" | "rounding", weights = "f32", floor = 0, isReadable = true } = {},
) {
  const compare = ({ baseline, candidate }: { baseline: string; candidate: string }) => {
    if (baseline !== original && !isReadable) throw new InferOptError("MODEL_REJECTED", "input", "no such kernel");
    const found = { maxAbs, differing: 5 };
    return [differenceOf("y", candidate === "new.onnx" ? found : candidate === original ? {} : { maxAbs: floor })];
  };
  const original = modelFile(temporaryFolder({}), `(x: ${weights}[2]) -> (y) { y = Add(x, $w: ${weights}[2]) }`);
  const check = {
    ...{ baseline: original, original, numerics, isOpened: true },
    signature: { inputs: [], outputs: [{ name: "y", dtype, shape: null }] },
    data: [{ path: "random", random: { seed: 7, count: 1, sizes: "small" as const } }],
  };
  const context = fakeContext(new FakeRuntime({}, { compare }), { scratch: temporaryFolder({}) });
  return checkEquivalence("new.onnx", check, runtimeConfig(), context);
}

const violationOf = async (...args: Parameters<typeof outcomeOf>) => (await outcomeOf(...args)).violation;

it("lets an output differ by a few last places of its own type, and no more", async () => {
  expect(await violationOf("f32", 5e-5)).toBeNull();
  expect(await violationOf("f32", 5e-4)).toMatch(/off by 5\.0e-4/);
  expect(await violationOf("f16", 5e-4)).toBeNull();
  expect(await violationOf("f16", 5e-3)).toMatch(/off by 5\.0e-3/);
  expect(await violationOf("bf16", 5e-3)).toBeNull();
  expect(await violationOf("bf16", 5e-2)).toMatch(/off by 5\.0e-2/);
});

it("lets nothing differ that is to be exact, whatever its type", async () => {
  expect(await violationOf("f16", 5e-4, { numerics: "exact" })).toMatch(/5 of 10 elements differ/);
});

it("holds a model in half precision against what it is in float32", async () => {
  const weights = "f16";
  expect(await violationOf("f32", 5e-4, { weights })).toBeNull();
  expect(await violationOf("f32", 3e-3, { weights })).toMatch(/off by 3\.0e-3 .* in float32/);
  expect(await violationOf("f32", 3e-3, { weights, floor: 1e-3 })).toBeNull();
  expect(await violationOf("f32", 3e-3, { floor: 4e-4 })).toMatch(/off by 3\.0e-3/);
  expect(await violationOf("f32", 9e-3, { weights, floor: 1e-3 })).toMatch(/off by 9\.0e-3/);
  expect(await outcomeOf("f32", 0.3, { weights, floor: 0.2 })).toMatchObject({
    violation: null,
    unchecked: expect.stringContaining("little more than rounding"),
  });
});

it("lets a model whose reading in float32 does not run differ by what rounding moves", async () => {
  const weights = "f16";
  const outcome = (maxAbs: number, floor: number) => outcomeOf("f32", maxAbs, { weights, floor, isReadable: false });
  expect((await outcome(3e-3, 4e-4)).violation).toBeNull();
  expect((await outcome(9e-3, 4e-4)).violation).toMatch(/off by 9\.0e-3/);
  expect(await outcome(9e-3, 6e-4)).toMatchObject({
    violation: null,
    unchecked: expect.stringContaining("little more than rounding"),
  });
});

describe("what rounding moves, where one sample is between two answers", () => {
  const added = "(x: f32[2]) -> (y) { y = Add(x, $w: f32[2]) }";
  const outcome = async (
    maxAbs: number,
    floors: Readonly<Record<string, number>>,
    { random = false, text = added } = {},
  ) => {
    const saved = new Map<string, string>();
    class Saving extends FakeRuntime {
      override async describe(...[model, session, { saveOptimizedTo } = {}]: Parameters<Runtime["describe"]>) {
        if (saveOptimizedTo) saved.set(saveOptimizedTo, session.optimization);
        return super.describe(model, session);
      }
    }
    const original = modelFile(temporaryFolder({}), text);
    const compare = ({ baseline, candidate }: { baseline: string; candidate: string }) => {
      // Its reading in float32.
      if (baseline !== original) throw new InferOptError("MODEL_REJECTED", "input", "no such kernel");
      const level = saved.get(candidate);
      const moved = candidate === "new.onnx" ? maxAbs : level ? floors[level] : undefined;
      return [differenceOf("y", moved === undefined ? {} : { maxAbs: moved, differing: 5 })];
    };
    const context = fakeContext(new Saving({}, { compare }), { scratch: temporaryFolder({}) });
    const data = [random ? madeUp : { path: "samples.npz" }];
    return (
      await checkEquivalence("new.onnx", { ...check(data), baseline: original, original }, runtimeConfig(), context)
    ).violation;
  };

  it("is what any level of the runtime's own fusions moves", async () => {
    expect(await outcome(4e-3, { basic: 2e-4, all: 1e-4 })).toMatch(/off by 4\.0e-3/);
    expect(await outcome(4e-3, { basic: 2e-4, all: 2e-3 })).toBeNull();
    expect(await outcome(4e-3, { basic: 5e-4, all: 0 })).toBeNull();
    expect(await outcome(2e-2, { basic: 2e-4, all: 9e-3 })).toMatch(/off by 2\.0e-2/);
  });

  it("is not what a fusion of the runtime's that is wrong makes of it", async () => {
    expect(await outcome(8e-3, { basic: 2e-4, all: 2e-3 })).toBeNull();
    expect(await outcome(8e-3, { basic: 2e-4, all: 0.5 })).toMatch(/off by 8\.0e-3/);
  });

  it("is asked of a file that holds all weights, wherever they are", async () => {
    const folder = temporaryFolder({});
    const described: (readonly [model: string, bytes: number])[] = [];
    class Sized extends FakeRuntime {
      override async describe(...[model, session, options]: Parameters<Runtime["describe"]>) {
        if (options?.saveOptimizedTo) described.push([model, statSync(model).size]);
        return super.describe(model, session);
      }
    }
    const compare = ({ candidate }: { candidate: string }) => [
      differenceOf("y", candidate === "new.onnx" ? { maxAbs: 4e-3, differing: 5 } : {}),
    ];
    for (const name of ["inline", "apart"]) {
      const path = join(folder, `${name}.onnx`);
      const model = parseModel("(x: f32[999]) -> (y) { y = Add(x, $w: f32[999]) }");
      saveModel(model, path, { externalData: name === "apart" }).commit();
      const scratch = temporaryFolder({});
      const context = fakeContext(new Sized({}, { compare }), { scratch });
      const given = { ...check([{ path: "samples.npz" }]), baseline: path, original: path };
      await checkEquivalence("new.onnx", given, runtimeConfig(), context);
      expect(readdirSync(scratch)).toEqual([]);
    }
    const [inline, , apart] = described;
    expect([inline![0], apart![0]]).toEqual([join(folder, "inline.onnx"), expect.stringContaining("original")]);
    expect(apart![1]).toBeGreaterThan(4 * 999);
  });

  it("is what the basic ones move on made-up inputs, where others can be tried", async () => {
    expect(await outcome(8e-4, { basic: 5e-5, all: 5e-4 }, { random: true })).toMatch(/off by 8\.0e-4/);
  });

  it.each([
    ["of integers", "(x: f32[2]) -> (y) { q = QuantizeLinear(x, $s: f32[]) y = DequantizeLinear(q, $s) }"],
    ["of half precision", "(x: f32[2]) -> (y) { h = Cast<to=10>(x) y = Cast<to=1>(h) }"],
  ])("is what the basic ones move %s, of which the runtime makes other sums", async (_, text) => {
    expect(await outcome(8e-3, { basic: 5e-5, all: 2e-3 }, { text })).toMatch(/off by 8\.0e-3/);
  });
});

const check = (data: { path: string; random?: { seed: number; count: number; sizes: "small" } }[]) => ({
  ...{ baseline: "old.onnx", original: "old.onnx", numerics: "rounding" as const, data, isOpened: true },
  signature: { inputs: [], outputs: [{ name: "y", dtype: "f32" as const, shape: null }] },
});
const madeUp = { path: "random", random: { seed: 7, count: 1, sizes: "small" as const } };

it("takes nothing for granted where both models answer NaN", async () => {
  const compare = () => [differenceOf("y", { nanOnBoth: differenceOf("y").elements })];
  const context = fakeContext(new FakeRuntime({}, { compare }), { scratch: temporaryFolder({}) });
  const uncheckedOn = async (data: Parameters<typeof check>[0]) =>
    (await checkEquivalence("new.onnx", check(data), runtimeConfig(), context)).unchecked;
  expect(await uncheckedOn([madeUp, madeUp])).toBe("all that comes out on made-up inputs is NaN");
  expect(await uncheckedOn([{ path: "samples.npz" }])).toBe("all that comes out for the samples is NaN");
});

it("blames no rewrite for a crash that does not happen again", async () => {
  let crashes = 1;
  const compare = ({ candidate }: { candidate: string }) => {
    if (candidate === "new.onnx" && crashes-- > 0) throw new InferOptError("RUNTIME_CRASHED", "runtime", "it crashed");
    return [differenceOf("y")];
  };
  const context = fakeContext(new FakeRuntime({}, { compare }), { scratch: temporaryFolder({}) });
  const violation = async () =>
    (await checkEquivalence("new.onnx", check([madeUp]), runtimeConfig(), context)).violation;
  expect(await violation()).toBeNull();
  crashes = 2;
  expect(await violation()).toBe("it does not run: it crashed");
});

it("tells a rewritten graph that does not end from an original that does not", async () => {
  const compared: string[] = [];
  const checked = async (isOverdue: boolean, data: Parameters<typeof check>[0]) => {
    const compare = ({ candidate }: { candidate: string }): never => {
      compared.push(candidate);
      const fields = { isOverdue, timeoutMs: 31_000 };
      throw new InferOptError("RUNTIME_TIMEOUT", "runtime", "it was silent for 31 s", { fields });
    };
    const context = fakeContext(new FakeRuntime({}, { compare }), { scratch: temporaryFolder({}) });
    return checkEquivalence("new.onnx", check(data), runtimeConfig(), context);
  };
  expect((await checked(true, [madeUp])).violation).toMatch(/^it does not end: stopped after 31 s/);
  // An original that does not end is not waited for twice.
  const { violation, unchecked } = await checked(false, [madeUp, madeUp]);
  expect([violation, unchecked]).toEqual([null, expect.stringContaining("it was silent for 31 s")]);
  expect(compared).toEqual(["new.onnx", "new.onnx"]);
  await expect(checked(false, [{ path: "samples.npz" }])).rejects.toMatchObject({ code: "RUNTIME_TIMEOUT" });
});

it("finds that the runtime does not load the rewritten model, where the original runs on nothing", async () => {
  const compare = (): never => {
    throw new InferOptError("RUN_FAILED", "runtime", "it does not run on that");
  };
  class Picky extends FakeRuntime {
    override async describe(...args: Parameters<FakeRuntime["describe"]>) {
      if (refused.has(args[0])) throw new InferOptError("MODEL_REJECTED", "input", "shapes contradict each other");
      return super.describe(...args);
    }
  }
  const refused = new Set(["new.onnx"]);
  const context = fakeContext(new Picky({}, { compare }), { scratch: temporaryFolder({}) });
  const outcome = () => checkEquivalence("new.onnx", check([madeUp]), runtimeConfig(), context);
  expect(await outcome()).toMatchObject({
    violation: "it does not load: shapes contradict each other",
    unchecked: null,
  });
  refused.add("old.onnx");
  expect(await outcome()).toMatchObject({ violation: null, unchecked: expect.stringContaining("made-up inputs") });
});

describe("what the runtime makes of a model as it would be deployed", () => {
  const outcome = async (dying: readonly string[], { isOpened = true, signal = "SIGSEGV", times = 9 } = {}) => {
    let left = times;
    class Dying extends FakeRuntime {
      override async describe(...[model, session]: Parameters<FakeRuntime["describe"]>) {
        if (session.optimization === "all" && dying.includes(model) && left-- > 0)
          throw new InferOptError("RUNTIME_CRASHED", "runtime", `it died of ${model}`, { fields: { signal } });
        return super.describe(model, session);
      }
    }
    const runtime = new Dying({}, { compare: () => [differenceOf("y")] });
    const context = fakeContext(runtime, { scratch: temporaryFolder({}) });
    return checkEquivalence("new.onnx", { ...check([madeUp]), isOpened }, runtimeConfig(), context);
  };

  it("is held against the rewrites where it dies of the result alone", async () => {
    const violation = "it does not load: it died of new.onnx";
    expect(await outcome(["new.onnx"])).toMatchObject({ violation, isRefused: true });
  });

  it("is told, and held against nothing, where it dies of the original too", async () => {
    expect(await outcome(["new.onnx", "old.onnx"])).toMatchObject({ violation: null, unopened: "it died of new.onnx" });
    expect(await outcome(["old.onnx"])).not.toHaveProperty("unopened");
  });

  it.each([
    ["that happens once", { times: 1 }],
    ["for want of memory", { signal: "SIGKILL" }],
    ["of a model that is not opened for this alone", { isOpened: false }],
  ])("is nothing %s", async (_, how) => {
    expect(await outcome(["new.onnx"], how)).toMatchObject({ violation: null, unchecked: null });
  });

  it.each([
    ["(x: f32[4]) -> (y) { y = Relu(x) }", false],
    ["(x: i32[4]) -> (y) { y = Cast<to=1>(x) }", true],
    ["(x: f32[4]) -> (y) { h = Cast<to=10>(x) y = Relu(h) }", true],
    ["(x: f16[4]) -> (y) { y = Relu(x) }", true],
  ])("is asked of models with Casts and with half precision: %s", (text, expected) => {
    expect(isOpenedToo(parseModel(text))).toBe(expected);
  });
});
