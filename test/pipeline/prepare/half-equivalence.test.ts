import { afterAll, describe, expect, it } from "vitest";
import type { DType } from "../../../src/ir/index.js";
import { checkEquivalence } from "../../../src/pipeline/prepare/equivalence.js";
import { judgeHalf } from "../../../src/pipeline/prepare/half-equivalence.js";
import { ortRuntime } from "../../../src/runtime/ort/index.js";
import type { OutputDifference } from "../../../src/runtime/port.js";
import { differenceOf, FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { modelFile } from "../../support/model-file.js";
import { realContext } from "../../support/real-run.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

type Facts = Partial<OutputDifference>;

/** What is said of a result that is so far from the float32 reading, where half precision itself is so far from it. */
async function verdict(
  found: Facts,
  { noise = {}, own = {}, dtype = "f16" }: { noise?: Facts; own?: Facts; dtype?: DType },
) {
  const original = modelFile(temporaryFolder(), "(x: f16[2]) -> (y) { y = Add(x, $w: f16[2]) }");
  const compare = async (_: string, candidate: string) => [
    differenceOf("y", candidate === "new.onnx" ? found : candidate === "old.onnx" ? own : noise),
  ];
  const check = { original, baseline: "old.onnx", candidate: "new.onnx", dtypeOf: () => dtype, allowed: 2 ** -10 };
  return judgeHalf(check, compare, fakeContext(new FakeRuntime({}), { scratch: temporaryFolder() }));
}

const right = { violation: null, isNoise: false };
const wrong = (pattern: RegExp) => ({ violation: expect.stringMatching(pattern), isNoise: false });

describe("judgeHalf", () => {
  it("excuses a last place, and what is a few times as far off as half precision itself", async () => {
    expect(await verdict({ maxAbs: 9e-4 }, {})).toEqual(right);
    expect(await verdict({ maxAbs: 3e-3 }, {})).toEqual(wrong(/output y: off by 3\.0e-3 .* excuses 0\.0e\+0/));
    expect(await verdict({ maxAbs: 3e-3 }, { noise: { maxAbs: 1e-3 } })).toEqual(right);
    expect(await verdict({ maxAbs: 3e-3 }, { own: { maxAbs: 1e-3 } })).toEqual(right);
    expect(await verdict({ maxAbs: 5e-3 }, { own: { maxAbs: 1e-3 }, noise: { maxAbs: 1e-4 } })).toEqual(
      wrong(/5\.0e-3/),
    );
  });

  it("says nothing where half precision moves outputs by more than a tenth, or to infinity", async () => {
    const noise = { violation: null, isNoise: true };
    expect(await verdict({ maxAbs: 0.5 }, { noise: { maxAbs: 0.11 } })).toEqual(noise);
    expect(await verdict({ maxAbs: 0.5 }, { own: { maxAbs: Number.POSITIVE_INFINITY } })).toEqual(noise);
  });

  it("excuses no other shape, and no NaN that half precision does not give", async () => {
    expect(await verdict({ mismatch: "shape [2] is not [3]" }, { own: { maxAbs: 1 } })).toEqual(wrong(/shape/));
    expect(await verdict({ nanMismatch: 1 }, {})).toEqual(wrong(/1 elements are NaN/));
    expect(await verdict({ nanMismatch: 1 }, { own: { nanMismatch: 1 } })).toEqual(right);
  });

  it("counts integers that are others", async () => {
    const dtype = "i64";
    expect(await verdict({ maxAbs: 700, differing: 0 }, { dtype })).toEqual(right);
    expect(await verdict({ differing: 1 }, { dtype })).toEqual(wrong(/1\.0e-1 of its elements/));
    expect(await verdict({ differing: 2, elements: 100 }, { dtype, noise: { differing: 1, elements: 100 } })).toEqual(
      right,
    );
  });
});

describe("checkEquivalence of a model in half precision", () => {
  const runtime = ortRuntime({ workers: 1 });
  afterAll(() => runtime.close());

  const weight = (i: number): number => Math.sin(7 * i + 1);
  const scale = (i: number): number => 1.5 + Math.cos(3 * i);
  const list = (count: number, at: (i: number) => number): string =>
    `{${Array.from({ length: count }, (_, i) => at(i).toFixed(4)).join(", ")}}`;
  const original = `(x: f16[n,8]) -> (y) {
    a = MatMul(x, $w: f16[8,8] = ${list(64, weight)})
    b = Mul(a, $s: f16[8] = ${list(8, scale)})
    c = Add(b, $k: f16[8] = ${list(8, weight)})
    d = Tanh(c)
    e = MatMul(d, $v: f16[8,8] = ${list(64, (i) => weight(i + 0.5))})
    y = Softmax(e)
  }`;

  async function checked(candidate: string) {
    const folder = temporaryFolder();
    const path = modelFile(folder, original);
    const inputs = [{ name: "x", dtype: "f16", shape: ["n", 8] }] as const;
    const check = {
      ...{ baseline: path, original: path, numerics: "rounding" as const, isOpened: true },
      signature: { inputs, outputs: [{ name: "y", dtype: "f16" as const, shape: ["n", 8] }] },
      data: [{ path: "random", random: { seed: 3, count: 2, signature: inputs } }],
    };
    const other = modelFile(folder, candidate, { name: "new.onnx" });
    return checkEquivalence(other, check, runtimeConfig(), realContext(runtime));
  }

  it("finds the same algebra, rounded elsewhere, right", async () => {
    // The scale is folded into the weights, which are rounded anew.
    const candidate = original
      .replace(
        list(64, weight),
        list(64, (i) => weight(i) * scale(i % 8)),
      )
      .replace(/b = Mul.*\n/, "")
      .replace("Add(b,", "Add(a,");
    expect(await checked(candidate)).toMatchObject({ violation: null, unchecked: null });
  });

  it("finds a rewrite that forgets a bias wrong", async () => {
    const candidate = original.replace(/c = Add.*\n/, "").replace("Tanh(c)", "Tanh(b)");
    expect((await checked(candidate)).violation).toMatch(/output y: off by .* in float32/);
  });
});
