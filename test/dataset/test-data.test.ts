import { describe, expect, it } from "vitest";
import { openTestData } from "../../src/dataset/test-data.js";
import { bigintToLong, encodeTensor } from "../../src/onnx/index.js";
import { faultOf, input, numbersOf, samplesOf } from "../support/dataset.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { f32Proto } from "../support/tensor-file.js";

const signature = [input("a", "f32", [1]), input("b", "f32", [1])];

describe("openTestData", () => {
  it("reads the sets in the order of their numbers", async () => {
    const folder = temporaryFolder(
      Object.fromEntries([10, 2, 0].map((n) => [`test_data_set_${n}/input_0.pb`, f32Proto("a", [n])])),
    );
    const dataset = await openTestData(folder);
    const samples = await samplesOf(dataset);
    expect(dataset).toMatchObject({ count: 3, hasLabels: false });
    expect(samples.map(({ id }) => id)).toEqual(["test_data_set_0", "test_data_set_2", "test_data_set_10"]);
    expect(samples.map(({ feeds }) => numbersOf(feeds.get("a"))[0])).toEqual([0, 2, 10]);
  });

  it("keeps the order of inputs beyond ten", async () => {
    const files = Array.from({ length: 12 }, (_, i) => [`test_data_set_0/input_${i}.pb`, f32Proto("", [i])] as const);
    const inputs = files.map((_, i) => input(`x${i}`, "f32", [1]));
    const [sample] = await samplesOf(await openTestData(temporaryFolder(Object.fromEntries(files)), inputs));
    expect(numbersOf(sample!.feeds.get("x2"))).toEqual([2]);
    expect(numbersOf(sample!.feeds.get("x11"))).toEqual([11]);
  });

  it("goes by the names in the tensors when they are the model's", async () => {
    const folder = temporaryFolder({
      "test_data_set_0/input_0.pb": f32Proto("b", [1]),
      "test_data_set_0/input_1.pb": f32Proto("a", [2]),
    });
    const [sample] = await samplesOf(await openTestData(folder, signature));
    expect(numbersOf(sample!.feeds.get("b"))).toEqual([1]);
  });

  it("goes by position when the names are others", async () => {
    const folder = temporaryFolder({
      "test_data_set_0/input_0.pb": f32Proto("gpu_0/data_0", [1]),
      "test_data_set_0/input_1.pb": f32Proto("", [2]),
    });
    const [sample] = await samplesOf(await openTestData(folder, signature));
    expect(numbersOf(sample!.feeds.get("a"))).toEqual([1]);
    expect(numbersOf(sample!.feeds.get("b"))).toEqual([2]);
  });

  it("hands out output_*.pb as references", async () => {
    const folder = temporaryFolder({
      "test_data_set_0/input_0.pb": f32Proto("a", [1]),
      "test_data_set_0/output_0.pb": f32Proto("y", [3]),
      "test_data_set_0/output_1.pb": f32Proto("", [4]),
    });
    const [sample] = await samplesOf(await openTestData(folder));
    const given = sample!.references!.map(({ name, position, tensor }) => [name, position, numbersOf(tensor)]);
    expect(given).toEqual([
      ["y", 0, [3]],
      ["", 1, [4]],
    ]);
  });

  it("takes a single set for a dataset of one sample", async () => {
    expect((await openTestData(temporaryFolder({ "input_0.pb": f32Proto("a", [1]) }))).count).toBe(1);
  });

  it("refuses more inputs than the model has", async () => {
    const folder = temporaryFolder({
      "test_data_set_0/input_0.pb": f32Proto("", [1]),
      "test_data_set_0/input_1.pb": f32Proto("", [2]),
    });
    const fault = await faultOf(async () => samplesOf(await openTestData(folder, signature.slice(0, 1))));
    expect(fault.code).toBe("DATASET_INPUT_UNKNOWN");
  });

  it("reads a set of a model that has no inputs", async () => {
    const folder = temporaryFolder({ "test_data_set_0/output_0.pb": f32Proto("y", [3]) });
    const [sample] = await samplesOf(await openTestData(folder, []));
    expect([sample!.feeds.size, sample!.references!.length]).toEqual([0, 1]);
  });

  it("refuses a set without tensors", async () => {
    const folder = temporaryFolder({ "test_data_set_0/readme.txt": "" });
    expect((await faultOf(async () => samplesOf(await openTestData(folder)))).code).toBe("DATASET_EMPTY");
  });

  it.each([
    ["garbage", Uint8Array.of(0xff, 0xff, 0xff)],
    [
      "a tensor whose data is short",
      encodeTensor({ dims: [bigintToLong(3n)], data_type: 1, raw_data: new Uint8Array(8) }),
    ],
  ])("names the file that holds %s", async (_, bytes) => {
    const folder = temporaryFolder({ "test_data_set_0/input_0.pb": bytes });
    const fault = await faultOf(async () => samplesOf(await openTestData(folder)));
    expect(fault.code).toBe("DATASET_TENSOR_INVALID");
    expect(fault.message).toContain("input_0.pb");
  });
});
