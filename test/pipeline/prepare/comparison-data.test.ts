/** Which data a model is run on: the first that it takes. */
import { describe, expect, it } from "vitest";
import { InferOptError } from "../../../src/base/errors.js";
import type { DatasetRef } from "../../../src/dataset/index.js";
import { onFirstThatRuns } from "../../../src/pipeline/prepare/comparison-data.js";

const madeUp = (seed: number): DatasetRef => ({ path: "random", random: { seed, count: 1 } }) as unknown as DatasetRef;
const samples: DatasetRef = { path: "samples.npz" };
const fault = (text: string) => new InferOptError("RUN_FAILED", "runtime", text);
const failingBelow =
  (least: number) =>
  async ({ random }: DatasetRef): Promise<number> => {
    const seed = random?.seed ?? 0;
    if (seed < least) throw fault(`fails on ${seed}`);
    return seed;
  };

describe("the first data that runs", () => {
  it("passes over made-up inputs that the model does not take", async () => {
    const all = [madeUp(1), madeUp(2), madeUp(3)];
    expect(await onFirstThatRuns(all, failingBelow(2))).toEqual({ result: 2, on: all[1] });
    expect(await onFirstThatRuns(all, failingBelow(9))).toMatchObject({ problem: { message: "fails on 1" } });
  });

  it("never passes over samples, unless it is told to", async () => {
    await expect(onFirstThatRuns([samples, madeUp(2)], failingBelow(1))).rejects.toThrow("fails on 0");
    expect(await onFirstThatRuns([samples, madeUp(2)], failingBelow(1), () => false)).toMatchObject({ result: 2 });
  });

  it("does not wait again for a model that does not end", async () => {
    const asked: (number | undefined)[] = [];
    const tried = await onFirstThatRuns([madeUp(1), madeUp(2)], async ({ random }) => {
      asked.push(random?.seed);
      throw new InferOptError("RUNTIME_TIMEOUT", "runtime", "it was silent");
    });
    expect(tried).toMatchObject({ problem: { code: "RUNTIME_TIMEOUT" } });
    expect(asked).toEqual([1]);
  });

  it("throws what no other data would help against, and what is no fault", async () => {
    const all = [madeUp(1), madeUp(2)];
    await expect(onFirstThatRuns(all, failingBelow(2), () => true)).rejects.toThrow("fails on 1");
    await expect(onFirstThatRuns(all, () => Promise.reject(new Error("a bug")))).rejects.toThrow("a bug");
  });
});
