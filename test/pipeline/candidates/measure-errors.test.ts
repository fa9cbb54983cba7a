import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import { saveModel } from "../../../src/ir/index.js";
import { innerValuesOf } from "../../../src/pipeline/candidates/inner-values.js";
import { Workshop } from "../../../src/pipeline/candidates/workshop.js";
import { Journal } from "../../../src/pipeline/journal.js";
import type { ScoreJob } from "../../../src/runtime/port.js";
import { integersVariant, staticVariant } from "../../support/candidates.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { prepared, safeTarget } from "../../support/quantize-text.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const text = `(x: f32[1,64]) -> (y) {
  h = Gemm(x, $w: f32[64,64])
  i = Gemm(h, $a: f32[64,64])
  j = Gemm(i, $b: f32[64,64])
  k = Gemm(j, $c: f32[64,64])
  r = Relu(k)
  y = Gemm(r, $v: f32[64,2])
}`;

/** Answers are known to 3 and 2 dB, what the last product reads to 20 and 10. */
class TellingRuntime extends FakeRuntime {
  constructor(readonly refuses: (job: ScoreJob) => boolean) {
    super({});
  }

  override async score(job: ScoreJob) {
    const result = await super.score(job);
    if (this.refuses(job)) throw new InferOptError("MODEL_REJECTED", "input", "no such output", { hint: "" });
    const rows = (...row: number[]) => job.models.map(() => Float64Array.from(row));
    const energies = Float64Array.of(1, 1);
    return {
      ...{ ...result, scores: rows(3, 2), energies },
      ...(job.apart && { apart: { scores: rows(20, 10), energies } }),
    };
  }
}

async function workshop(refuses: (job: ScoreJob) => boolean = () => false) {
  const scratch = temporaryFolder();
  const path = join(scratch, "prepared.onnx");
  saveModel(await prepared(text), path).commit();
  const runtime = new TellingRuntime(refuses);
  const context = fakeContext(runtime, { scratch });
  const inner = innerValuesOf(path, "qdq", context)!;
  const options = {
    ...{ original: path, prepared: path, target: safeTarget, taps: new Map(), inner },
    ...{ trial: { path: "samples.npz" }, excluded: new Map<string, string>(), runtime: runtimeConfig() },
  };
  return { runtime, inner, scratch, shop: new Workshop(options, context) };
}

describe("measureError", () => {
  it("measures of static integers what the last products read too, beside their float model, and leaves no file", async () => {
    const { shop, runtime, inner, scratch } = await workshop();
    const before = readdirSync(scratch).length;
    const [statics, dynamic] = [shop.make(staticVariant), shop.make(integersVariant("dynamic"))];
    await shop.measureError([dynamic, statics]);
    expect(statics).toMatchObject({ sqnrDb: 2.5, inner: { sqnrDb: 15 } });
    expect(statics.inner!.pooledDb).toBeCloseTo(-10 * Math.log10(0.055), 9);
    expect(dynamic.sqnrDb).toBe(2.5);
    expect(dynamic).not.toHaveProperty("inner");
    expect(runtime.scored.map(({ models, apart }) => [models[0], apart])).toEqual([
      [inner.float, ["r"]],
      [shop.options.prepared, undefined],
    ]);
    expect(readdirSync(scratch)).toHaveLength(before + 2);
  });

  it("measures one as it is where the runtime refuses it as a model that tells more", async () => {
    const { shop } = await workshop(({ apart }) => apart !== undefined);
    const made = [shop.make(staticVariant), shop.make(staticVariant)];
    await shop.measureError(made);
    for (const each of made) {
      expect(each).toMatchObject({ sqnrDb: 2.5, note: "" });
      expect(each).not.toHaveProperty("inner");
    }
  });

  it("recalls both", async () => {
    const { shop, runtime } = await workshop();
    const path = join(temporaryFolder(), "out.onnx.journal.jsonl");
    const measured = async () => {
      const own = new Workshop(shop.options, shop.context, new Journal(path, "this", () => {}));
      const made = own.make(staticVariant);
      await own.measureError([made]);
      return made.inner;
    };
    const first = await measured();
    runtime.score = () => Promise.reject(new Error("asked again"));
    expect(first).toMatchObject({ sqnrDb: 15 });
    expect(await measured()).toEqual(first);
  });
});
