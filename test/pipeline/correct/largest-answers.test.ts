import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type DType, parseModel, saveModel } from "../../../src/ir/index.js";
import type { FloatAnswers } from "../../../src/pipeline/calibrate/kept-answers.js";
import { largestAnswers } from "../../../src/pipeline/correct/largest-answers.js";
import type { ScoreJob } from "../../../src/runtime/port.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { runtimeConfig } from "../../support/run-config.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

/** Tells energies by the samples' indices. */
class Energies extends FakeRuntime {
  readonly jobs: ScoreJob[] = [];

  constructor(readonly energyOf: (index: number) => number) {
    super({});
  }

  override async score(job: ScoreJob) {
    this.jobs.push(job);
    const metric = { name: "sqnr", higherIsBetter: true };
    const energies = Float64Array.from(job.data.indices!, this.energyOf);
    return { metric, scores: [new Float64Array(energies.length)], usedReference: true, energies };
  }
}

function typedFile(text: string, dtype: DType): string {
  const model = parseModel(text);
  for (const { value } of model.graph.outputs) value.type = { dtype, shape: [1, 4] };
  const path = join(temporaryFolder(), "model.onnx");
  saveModel(model, path).commit();
  return path;
}

function largestOf(
  text: string,
  runtime: Energies,
  fitted: readonly number[] | null,
  dtype: DType = "f32",
): Promise<readonly number[]> {
  const model = typedFile(text, dtype);
  const answers = { path: "answers", fitted: fitted && { path: "x.npz", indices: fitted } } as unknown as FloatAnswers;
  return largestAnswers(answers, model, runtimeConfig(), fakeContext(runtime));
}

const logits = "(x: f32[1,4]) -> (y) { y = MatMul(x, $w: f32[4,4]) }";

describe("largestAnswers", () => {
  it("are those of the two fitted samples with the most energy", async () => {
    const runtime = new Energies((index) => (index === 5 ? 100 : index === 11 ? 300 : 50 - index));
    expect(await largestOf(logits, runtime, [1, 5, 8, 11, 14])).toEqual([11, 5]);
    expect(runtime.jobs.map(({ answers, models }) => [answers, models.length])).toEqual([["answers", 1]]);
  });

  it("come first where their energy is too large for a number", async () => {
    const runtime = new Energies((index) => (index === 8 || index === 5 ? Number.POSITIVE_INFINITY : index));
    expect(await largestOf(logits, runtime, [1, 5, 8, 11, 14])).toEqual([5, 8]);
  });

  it.each([
    ["nothing is fitted", logits, null, "f32"],
    [
      "all answers are of one size",
      "(x: f32[1,4]) -> (y) { a = MatMul(x, $w: f32[4,4])\n y = Softmax(a) }",
      [1, 5],
      "f32",
    ],
    [
      "they are, in another view",
      "(x: f32[1,4]) -> (y) { a = MatMul(x, $w: f32[4,4])\n s = Softmax(a)\n y = Reshape(s, $r: i64[2] = {2, 2}) }",
      [1, 5],
      "f32",
    ],
    ["answers are numbers of classes", "(x: f32[1,4]) -> (y) { y = ArgMax<axis=1>(x) }", [1, 5], "i64"],
  ] as const)("are none where %s", async (_, text, fitted, dtype) => {
    const runtime = new Energies((index) => index);
    expect(await largestOf(text, runtime, fitted, dtype)).toEqual([]);
    expect(runtime.jobs).toEqual([]);
  });
});
