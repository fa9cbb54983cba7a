import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadModel } from "../../src/ir/index.js";
import { bytesOf, codeOf, FLOAT, long, temporaryFolder } from "./build.js";

const data = new Uint8Array(Float32Array.of(1, 2, 3, 4, 5, 6).buffer);

/** A model in `folder` with one external tensor of two floats. */
function modelIn(folder: string, entries: Record<string, string>): string {
  const external_data = Object.entries(entries).map(([key, value]) => ({ key, value }));
  const path = join(folder, "model.onnx");
  const tensor = { name: "w", dims: [long(2)], data_type: FLOAT, data_location: 1, external_data };
  writeFileSync(path, bytesOf({ initializer: [tensor] }));
  return path;
}

function setUp(entries: Record<string, string>): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "w.data"), data);
  return modelIn(folder, entries);
}

const values = (path: string): number[] => [...loadModel(path).graph.constants[0]!.constant!.f32()];

describe("external data", () => {
  it("is read from its offset, with or without a length", () => {
    expect(values(setUp({ location: "w.data", offset: "8", length: "8" }))).toEqual([3, 4]);
    expect(values(setUp({ location: "w.data", offset: "16" }))).toEqual([5, 6]);
    expect(values(setUp({ location: "w.data" }))).toEqual([1, 2]);
  });

  it("may lie in a folder below the model", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "weights"));
    writeFileSync(join(folder, "weights", "w"), data);
    expect(values(modelIn(folder, { location: "weights/w" }))).toEqual([1, 2]);
  });

  const wrong: Record<string, [Record<string, string>, string]> = {
    "a missing file": [{ location: "none.data" }, "EXTERNAL_DATA_MISSING"],
    "no location": [{ offset: "0" }, "EXTERNAL_DATA_INVALID"],
    "an offset that is no number": [{ location: "w.data", offset: "8x" }, "EXTERNAL_DATA_INVALID"],
    "a negative offset": [{ location: "w.data", offset: "-8" }, "EXTERNAL_DATA_INVALID"],
    "an offset beyond 2^53": [{ location: "w.data", offset: "9".repeat(20) }, "EXTERNAL_DATA_INVALID"],
    "an offset beyond the file": [{ location: "w.data", offset: "4096" }, "EXTERNAL_DATA_SHORT"],
    "a range that ends beyond the file": [{ location: "w.data", offset: "20" }, "EXTERNAL_DATA_SHORT"],
    "a length that the shape does not ask for": [{ location: "w.data", length: "12" }, "EXTERNAL_DATA_INVALID"],
    "an empty length": [{ location: "w.data", length: "" }, "EXTERNAL_DATA_INVALID"],
    "an absolute path": [{ location: "/etc/hostname" }, "EXTERNAL_DATA_OUTSIDE"],
    "a path that climbs out": [{ location: "../../etc/hostname" }, "EXTERNAL_DATA_OUTSIDE"],
    "a path that climbs out in the middle": [{ location: "a/../../w.data" }, "EXTERNAL_DATA_OUTSIDE"],
    "the model's own folder": [{ location: "." }, "EXTERNAL_DATA_INVALID"],
    "a name with a zero byte": [{ location: "w\0.data" }, "EXTERNAL_DATA_MISSING"],
  };
  it.each(Object.entries(wrong))("is refused with %s", (_, [entries, code]) => {
    expect(codeOf(() => loadModel(setUp(entries)))).toBe(code);
  });

  it("is refused behind a link that leads out of the folder", () => {
    const elsewhere = join(temporaryFolder(), "secret");
    writeFileSync(elsewhere, data);
    const folder = temporaryFolder();
    symlinkSync(elsewhere, join(folder, "w.data"));
    expect(codeOf(() => loadModel(modelIn(folder, { location: "w.data" })))).toBe("EXTERNAL_DATA_OUTSIDE");
  });

  it("is read where model and data are links into one store, as in the cache of Hugging Face", () => {
    const store = temporaryFolder();
    modelIn(store, { location: "w.data" });
    writeFileSync(join(store, "blob"), data);
    const snapshot = temporaryFolder();
    symlinkSync(join(store, "model.onnx"), join(snapshot, "model.onnx"));
    symlinkSync(join(store, "blob"), join(snapshot, "w.data"));
    expect(values(join(snapshot, "model.onnx"))).toEqual([1, 2]);
  });

  it.skipIf(process.platform === "win32")("is refused in a pipe, which would never end", () => {
    const folder = temporaryFolder();
    execFileSync("mkfifo", [join(folder, "w.data")]);
    expect(codeOf(() => loadModel(modelIn(folder, { location: "w.data" })))).toBe("EXTERNAL_DATA_INVALID");
  });

  it("names the tensor", () => {
    expect(() => loadModel(setUp({ location: "none.data" }))).toThrow(/tensor "w" points at none\.data/);
  });
});
