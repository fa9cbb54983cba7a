import { describe, expect, it } from "vitest";
import { openDataset, openDatasetRef } from "../../src/dataset/open.js";
import { encodeTensor } from "../../src/onnx/index.js";
import { contentsOf, faultOf, input, numbersOf, samplesOf } from "../support/dataset.js";
import { f32Npy, npz } from "../support/npz.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const scalar = encodeTensor({ data_type: 1, raw_data: new Uint8Array(4) });
const manifest = JSON.stringify({ version: 1, samples: [{ inputs: { x: "x.npy" } }, { inputs: { x: "x.npy" } }] });

describe("openDataset", () => {
  it.each([
    ["a .npz file", { "d.npz": npz({ x: f32Npy([3, 1], [1, 2, 3]) }) }, "d.npz", 3],
    ["a .jsonl file", { "d.jsonl": '{"x": 1}' }, "d.jsonl", 1],
    ["test data", { "test_data_set_0/input_0.pb": scalar, "test_data_set_1/input_0.pb": scalar }, "", 2],
    ["a folder with a manifest", { "manifest.json": manifest }, "", 2],
    ["a manifest by its own path", { "manifest.json": manifest }, "manifest.json", 2],
  ])("reads %s", async (_, files, name, count) => {
    expect((await openDataset(`${temporaryFolder(files)}/${name}`)).count).toBe(count);
  });

  it("names a path that is not there", async () => {
    const fault = await faultOf(() => openDataset("/nowhere/data.npz"));
    expect(fault.code).toBe("DATASET_MISSING");
    expect(fault.message).toBe("there is no dataset /nowhere/data.npz");
  });

  it.each([{ "data.csv": "1,2" }, { "other/readme.txt": "" }])("refuses what it does not know: %o", async (files) => {
    const fault = await faultOf(() => openDataset(`${temporaryFolder(files)}/${Object.keys(files)[0]!.split("/")[0]}`));
    expect(fault.code).toBe("DATASET_KIND");
    expect(fault.hint).toContain(".jsonl");
  });
});

it.each([
  ["a folder of images", { "d/1.png": "", "d/2.JPG": "", "d/notes.txt": "" }, "d", "images (2)", "manifest.json"],
  ["one image", { "1.webp": "" }, "1.webp", "single image", "manifest.json"],
  ["an array by itself", { "x.npy": "" }, "x.npy", "name of its input", "np.savez("],
])("tells how %s becomes data", async (_, files, path, message, hint) => {
  const fault = await faultOf(() => openDataset(`${temporaryFolder(files as Record<string, string>)}/${path}`));
  expect(fault.code).toBe("DATASET_KIND");
  expect(fault.message).toContain(message);
  expect(fault.hint).toContain(hint);
});

it("reads the manifest of its own advice, once the names in it are right", async () => {
  const { hint } = await faultOf(() => openDataset(temporaryFolder({ "a.png": "" })));
  const [advised] = /\{.*\}/.exec(hint!)!;
  const dataset = await openDataset(temporaryFolder({ "a.png": "", "manifest.json": advised }));
  expect(dataset.count).toBe(1);
});

describe("openDatasetRef", () => {
  const path = () => `${temporaryFolder({ "d.npz": npz({ x: f32Npy([3, 1], [1, 2, 3]) }) })}/d.npz`;

  it("gives the samples that were chosen, numbered anew", async () => {
    const dataset = await openDatasetRef({ path: path(), indices: [2, 0] });
    const values = async (indices?: number[]) =>
      (await samplesOf(dataset, indices)).map(({ feeds }) => numbersOf(feeds.get("x"))[0]);
    expect(dataset.count).toBe(2);
    expect(await values()).toEqual([3, 1]);
    expect(await values([1])).toEqual([1]);
  });

  it("refuses chosen samples that are not there", async () => {
    expect((await faultOf(() => openDatasetRef({ path: path(), indices: [3] }))).code).toBe("DATASET_INDEX");
  });

  it("makes random data, the same after the reference went through JSON", async () => {
    const ref = { path: "random", indices: [1], random: { seed: 5, count: 3, shapes: { x: [2, 4] } } };
    const signature = [input("x", "f32", ["n", 4])];
    const here = await samplesOf(await openDatasetRef(ref, signature));
    const there = await samplesOf(await openDatasetRef(JSON.parse(JSON.stringify(ref)), signature));
    expect(contentsOf(here)).toEqual(contentsOf(there));
    expect(here[0]).toMatchObject({ id: "random[1]" });
    expect(here[0]!.feeds.get("x")!.dims).toEqual([2, 4]);
  });

  it("refuses random data for nothing known", async () => {
    const fault = await faultOf(() => openDatasetRef({ path: "random", random: { seed: 1, count: 1 } }));
    expect(fault.code).toBe("DATASET_SIGNATURE_NEEDED");
  });
});
