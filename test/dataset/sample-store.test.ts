import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Dataset, Sample } from "../../src/dataset/dataset.js";
import { openStore, partOfStore, SampleStore, storedById } from "../../src/dataset/sample-store.js";
import { Tensor } from "../../src/ir/index.js";
import { datasetOf, faultOf, samplesOf as read } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const sample = (i: number, more: Partial<Sample> = {}): Sample => ({
  id: `s[${i}]`,
  feeds: new Map([
    ["x", Tensor.f32([1, 2], [i, -i])],
    ["ids", Tensor.i64([1, 1], [7 * i])],
  ]),
  labels: null,
  ...more,
});

const plain = ({ id, feeds, labels }: Sample) => ({
  id,
  feeds: [...feeds].map(([name, tensor]) => [name, tensor.dtype, tensor.dims, [...tensor.bytes()]]),
  labels: labels instanceof Tensor ? [labels.dtype, labels.dims, [...labels.bytes()]] : labels,
});

const none = (): Promise<Dataset> => Promise.reject(new Error("the dataset was opened again"));

function stored(dataset: Dataset, samples: readonly Sample[], mostBytes?: number) {
  const store = new SampleStore(join(temporaryFolder(), "samples"), mostBytes);
  for (const each of samples) store.add(each);
  return { path: store.path, isThere: store.finish(dataset) };
}

describe("a store of samples", () => {
  it("gives samples and labels as they were, in the order asked for", async () => {
    const samples = [sample(0), sample(1, { labels: Tensor.i64([], [4]) }), sample(2, { labels: { json: ["a", 1] } })];
    const dataset = datasetOf(samples);
    const { path, isThere } = stored(dataset, samples);
    expect(isThere).toBe(true);
    const again = openStore(path, dataset.path, none);
    expect(again).toMatchObject({ path: dataset.path, count: 3, hasLabels: dataset.hasLabels });
    expect((await read(again)).map(plain)).toEqual(samples.map(plain));
    expect((await read(again, [2, 0])).map(plain)).toEqual([samples[2]!, samples[0]!].map(plain));
    expect(await faultOf(() => read(again, [3]))).toMatchObject({ code: "DATASET_INDEX" });
  });

  it("leaves what it has no room for to the files", async () => {
    const samples = [sample(0), sample(1), sample(2), sample(3)];
    const dataset = datasetOf(samples);
    const { path } = stored(dataset, samples, 40); // 16 bytes each
    let opened = 0;
    const again = openStore(path, dataset.path, async () => {
      opened++;
      return dataset;
    });
    expect((await read(again, [3, 2, 1, 0])).map(plain)).toEqual([...samples].reverse().map(plain));
    expect(opened).toBe(1);
    await read(again, [0, 1]);
    expect(opened).toBe(1);
  });

  it("is none where there is no room for its list", () => {
    // As long as a name may be: the list's is longer.
    const store = new SampleStore(join(temporaryFolder(), "s".repeat(253)));
    store.add(sample(0));
    expect(existsSync(store.path)).toBe(true);
    expect(store.finish({ count: 1, hasLabels: false })).toBe(false);
    expect(existsSync(store.path)).toBe(false);
  });

  it("is not made of texts, nor where outputs come with the samples", () => {
    const texts = sample(0, { feeds: new Map([["t", Tensor.strings([1], [new TextEncoder().encode("a")])]]) });
    const withOutputs = sample(0, { references: [{ name: "y", position: 0, tensor: Tensor.f32([1], [1]) }] });
    for (const each of [texts, withOutputs]) {
      const { path, isThere } = stored(datasetOf([each]), [each, sample(1)]);
      expect(isThere).toBe(false);
      expect(existsSync(path)).toBe(false);
    }
  });
});

describe("storedById", () => {
  it("finds tensors of all parts by the ids of samples, and reads what is asked for", () => {
    const path = join(temporaryFolder(), "kept");
    for (const [part, ids] of [[0, 1], [2]].entries()) {
      const store = new SampleStore(partOfStore(path, part));
      for (const i of ids) store.add(sample(i));
      store.finish({ count: ids.length, hasLabels: false });
    }
    const known = storedById(path);
    expect([...known.keys()]).toEqual(["s[0]", "s[1]", "s[2]"]);
    expect([...known.get("s[2]")!.get("x")!().f32()]).toEqual([2, -2]);
    expect(known.get("s[1]")!.get("ids")!().bigints()).toEqual([7n]);
  });

  it("knows nothing of a store that is not there", () => {
    expect(storedById(join(temporaryFolder(), "none")).size).toBe(0);
  });
});
