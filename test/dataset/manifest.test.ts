import { symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openManifest } from "../../src/dataset/manifest.js";
import { faultOf, numbersOf, samplesOf } from "../support/dataset.js";
import { f32Npy } from "../support/npz.js";
import { png } from "../support/png.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const folderOf = (manifest: unknown, files: Record<string, Uint8Array> = {}) =>
  temporaryFolder({ "manifest.json": typeof manifest === "string" ? manifest : JSON.stringify(manifest), ...files });

const withImage = (preprocess: unknown) => ({
  version: 1,
  samples: [{ inputs: { x: "a.png" } }],
  preprocess: { x: preprocess },
});
const withFile = (file: string) => ({ version: 1, samples: [{ inputs: { x: file } }] });
const faultOfReading = (folder: string) => faultOf(async () => samplesOf(await openManifest(folder)));

describe("openManifest", () => {
  it("reads arrays and labels", async () => {
    const manifest = { version: 1, samples: [{ inputs: { x: "a/x.npy" }, label: 7 }, { inputs: { x: "a/x.npy" } }] };
    const dataset = await openManifest(folderOf(manifest, { "a/x.npy": f32Npy([2, 1], [1, 2]) }));
    const samples = await samplesOf(dataset);
    expect(dataset).toMatchObject({ count: 2, hasLabels: true });
    expect(samples.map(({ labels }) => labels)).toEqual([{ json: 7 }, null]);
    expect(samples[1]!.id).toBe("samples[1] (a/x.npy)");
    expect(samples[0]!.feeds.get("x")!.dims).toEqual([2, 1]);
    expect(numbersOf(samples[0]!.feeds.get("x"))).toEqual([1, 2]);
  });

  it.each(["__proto__", "constructor", "prototype", "toString"])("reads an input named %s", async (name) => {
    const steps = `{"${name}": {"scale": 1, "channels": "gray"}}`;
    const manifest = `{"version": 1, "samples": [{"inputs": {"${name}": "a.png"}}], "preprocess": ${steps}}`;
    const [sample] = await samplesOf(await openManifest(folderOf(manifest, { "a.png": png(1, 1, 1, [51]) })));
    expect(numbersOf(sample!.feeds.get(name))).toEqual([51]);
  });

  it("refuses a label that nests too deep", async () => {
    const deep = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`;
    const manifest = `{"version": 1, "samples": [{"inputs": {"x": "a.npy"}, "label": 1}, {"inputs": {"x": "a.npy"}, "label": ${deep}}]}`;
    const fault = await faultOfReading(folderOf(manifest, { "a.npy": f32Npy([1], [1]) }));
    expect(fault.code).toBe("DATASET_MANIFEST_INVALID");
    expect(fault.fields["where"]).toBe("samples[1].label");
  });

  it("prepares images as told", async () => {
    const steps = { resize: { size: [1, 1], mode: "nearest" }, channels: "BGR", scale: 1, mean: [1], layout: "NHWC" };
    const [sample] = await samplesOf(
      await openManifest(folderOf(withImage(steps), { "a.png": png(1, 1, 3, [10, 20, 30]) })),
    );
    const tensor = sample!.feeds.get("x")!;
    expect([tensor.dims, numbersOf(tensor)]).toEqual([
      [1, 1, 1, 3],
      [29, 19, 9],
    ]);
  });

  it("takes one number for all channels with and without a list around it", async () => {
    const prepared = async (steps: unknown) => {
      const folder = folderOf(withImage(steps), { "a.png": png(1, 1, 3, [10, 20, 30]) });
      const [sample] = await samplesOf(await openManifest(folder));
      return numbersOf(sample!.feeds.get("x"));
    };
    expect(await prepared({ scale: 1, mean: 10, std: 5 })).toEqual([0, 2, 4]);
    expect(await prepared({ scale: 1, mean: [10], std: [5] })).toEqual([0, 2, 4]);
  });

  it("scales to 0..1, channels first, unless told", async () => {
    const [sample] = await samplesOf(
      await openManifest(folderOf(withFile("a.png"), { "a.png": png(1, 1, 3, [0, 51, 255]) })),
    );
    const tensor = sample!.feeds.get("x")!;
    expect([tensor.dims, numbersOf(tensor)]).toEqual([
      [1, 3, 1, 1],
      [0, Math.fround(0.2), 1],
    ]);
  });

  it("leaves pixels of type u8 unscaled", async () => {
    const folder = folderOf(withImage({ dtype: "u8" }), { "a.png": png(1, 1, 3, [0, 51, 255]) });
    const [sample] = await samplesOf(await openManifest(folder));
    expect(numbersOf(sample!.feeds.get("x"))).toEqual([0, 51, 255]);
  });
});

describe("openManifest refuses", () => {
  it.each<[string, unknown, string]>([
    ["an unknown key", { version: 1, samples: [], prepare: {} }, "prepare"],
    ["another version", { version: 2, samples: [] }, "version"],
    ["a sample without inputs", { version: 1, samples: [{ inputs: {} }] }, "samples.0.inputs"],
    ["an unknown key of a sample", { version: 1, samples: [{ inputs: { x: "a" }, lable: 1 }] }, "samples.0.lable"],
    ["an unknown step", withImage({ normalise: true }), "preprocess.x.normalise"],
    ["an unknown mode", withImage({ resize: { size: [1, 1], mode: "area" } }), "preprocess.x.resize.mode"],
    ["an unknown key of resize", withImage({ resize: { shortSide: 1, fitt: "pad" } }), "preprocess.x.resize.fitt"],
    ["a resize to nothing", withImage({ resize: { mode: "nearest" } }), "preprocess.x.resize"],
    ["a resize to two things", withImage({ resize: { size: [1, 1], shortSide: 1 } }), "preprocess.x.resize"],
    ["padding without a size", withImage({ resize: { shortSide: 1, fit: "pad" } }), "preprocess.x.resize"],
    ["a size of zero", withImage({ crop: [0, 1] }), "preprocess.x.crop.0"],
    ["a deviation of zero", withImage({ std: [0] }), "preprocess.x.std"],
    ["one deviation of zero", withImage({ std: 0 }), "preprocess.x.std"],
    ["a mean in words", withImage({ mean: "imagenet" }), "preprocess.x.mean"],
    ["a mean for two channels", withImage({ mean: [0, 0] }), "preprocess.x.mean"],
    ["three means for gray", withImage({ channels: "gray", mean: [0, 0, 0] }), "preprocess.x.mean"],
    ["a mean of bytes", withImage({ dtype: "u8", mean: [0] }), "preprocess.x.mean"],
    ["a scale of bytes", withImage({ dtype: "u8", scale: 0.5 }), "preprocess.x.scale"],
  ])("%s, naming the place", async (_, manifest, where) => {
    const fault = await faultOf(() => openManifest(folderOf(manifest)));
    expect(fault.code).toBe("DATASET_MANIFEST_INVALID");
    expect(String(fault.fields["where"])).toMatch(new RegExp(`^${where}`));
  });

  it("what is no JSON", async () => {
    expect((await faultOf(() => openManifest(folderOf("{")))).code).toBe("DATASET_MANIFEST_INVALID");
  });

  it("a list of no samples", async () => {
    expect((await faultOf(() => openManifest(folderOf({ version: 1, samples: [] })))).code).toBe("DATASET_EMPTY");
  });

  it.each(["../secret.npy", "/etc/hosts.npy", "a/../../x.npy"])("the path %s", async (file) => {
    const fault = await faultOfReading(folderOf(withFile(file)));
    expect(fault.code).toBe("DATASET_PATH_OUTSIDE");
    expect(fault.message).toBe(`samples[0].inputs["x"] is "${file}", outside the manifest's folder`);
  });

  it("a link that leads out of the folder", async () => {
    const outside = temporaryFolder({ "x.npy": f32Npy([1], [1]) });
    const folder = folderOf(withFile("link.npy"));
    symlinkSync(`${outside}/x.npy`, `${folder}/link.npy`);
    expect((await faultOfReading(folder)).code).toBe("DATASET_PATH_OUTSIDE");
  });

  it("a file that is not there, and one of another type", async () => {
    expect((await faultOfReading(folderOf(withFile("a.npy")))).code).toBe("DATASET_FILE_MISSING");
    expect((await faultOfReading(folderOf(withFile("a.txt"), { "a.txt": Buffer.from("1") }))).code).toBe(
      "DATASET_FILE_TYPE",
    );
  });
});
