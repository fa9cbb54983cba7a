import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { attr, check, loadModel, parseModel, saveModel, Tensor } from "../../src/ir/index.js";
import { type ByteSource, memorySource, stageModel } from "../../src/onnx/index.js";
import { codeOf, fileOf, floats, modelFile, modelOf, temporaryFolder } from "./build.js";

const text = `(x: f32[1,600]) -> (y) {
  a = Add(x, $w: f32[1,600])
  y = Add(a, $b: f32[1] = {2.0})
}`;

const failing = (byteLength: number): ByteSource => ({
  byteLength,
  read() {
    throw new Error("the source broke");
  },
  *chunks() {
    yield new Uint8Array(byteLength / 2);
    throw new Error("the source broke");
  },
});

const weights = (path: string) =>
  new Map(loadModel(path).graph.constants.map((value) => [value.label, [...value.constant!.bytes()]]));

const mounts: string[] = [];
afterEach(() => {
  for (const path of mounts.splice(0)) execFileSync("umount", [path]);
});

/** A disk of one megabyte, or null where this user may not mount one. */
function tinyDisk(): string | null {
  const path = join(temporaryFolder(), "disk");
  mkdirSync(path);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path], { stdio: "ignore" });
  } catch {
    return null;
  }
  mounts.push(path);
  return path;
}

describe("stageModel", () => {
  it("leaves the final name alone until it is committed", () => {
    const path = fileOf("old");
    const staged = saveModel(parseModel(text), path);
    expect(readFileSync(path, "utf8")).toBe("old");
    check(loadModel(staged.path).graph);
    staged.commit();
    check(loadModel(path).graph);
    expect(readdirSync(join(path, ".."))).toEqual(["model.onnx"]);
  });

  it("tells size and digest of what it wrote", () => {
    const path = join(temporaryFolder(), "m.onnx");
    const staged = saveModel(parseModel(text), path);
    staged.commit();
    const bytes = readFileSync(path);
    expect(staged.sizeBytes).toBe(bytes.length);
    expect(staged.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
  });

  it.each([{}, { externalData: true }])("takes what was told of it before, with %o", (options) => {
    const path = join(temporaryFolder(), "m.onnx");
    const model = parseModel(text);
    const told = saveModel(model, join(temporaryFolder(), "scratch.onnx"), { isScratch: true }).bytesAs(path, options);
    expect(saveModel(model, path, options).sizeBytes).toBe(told);
  });

  it("removes everything when it is discarded, and nothing once it is committed", () => {
    const folder = temporaryFolder();
    const path = join(folder, "m.onnx");
    saveModel(parseModel(text), path, { externalData: true }).discard();
    expect(readdirSync(folder)).toEqual([]);
    const staged = saveModel(parseModel(text), path, { externalData: true });
    staged.commit();
    staged.discard();
    expect(readdirSync(folder)).toHaveLength(2);
    expect(weights(path).get("w")).toHaveLength(2400);
  });

  it("is committed once", () => {
    const path = join(temporaryFolder(), "m.onnx");
    const staged = saveModel(parseModel(text), path);
    staged.commit();
    expect(() => staged.commit()).toThrow(/internal: .* committed or discarded/);
    check(loadModel(path).graph);
  });

  it("leaves nothing behind where it cannot be renamed", () => {
    const folder = temporaryFolder();
    const path = join(folder, "m.onnx");
    const staged = saveModel(parseModel(text), path, { externalData: true });
    mkdirSync(path);
    expect(codeOf(() => staged.commit())).toBe("OUTPUT_FAILED");
    expect(readdirSync(folder)).toEqual(["m.onnx"]);
  });

  it("keeps two candidates for one name apart", () => {
    const path = join(temporaryFolder(), "m.onnx");
    const first = saveModel(parseModel(text, { seed: 1 }), path);
    const second = saveModel(parseModel(text, { seed: 2 }), path);
    expect(first.path).not.toBe(second.path);
    const wanted = weights(first.path);
    second.discard();
    first.commit();
    expect(weights(path)).toEqual(wanted);
  });

  it("keeps the data that another model with the same weights needs", () => {
    const path = join(temporaryFolder(), "m.onnx");
    const save = () => saveModel(parseModel(text), path, { externalData: true });
    save().commit();
    save().discard();
    expect(weights(path).get("w")).toHaveLength(2400);
    const [one, two] = [save(), save()];
    one.discard();
    two.commit();
    expect(weights(path).get("w")).toHaveLength(2400);
  });

  it("leaves the data that another run put in the place of its own, whatever way it ends", () => {
    const folder = temporaryFolder();
    const path = join(folder, "m.onnx");
    const staged = saveModel(parseModel(text), path, { externalData: true });
    const data = join(folder, readdirSync(folder).find((name) => /\w{12}\.data$/.test(name))!);
    copyFileSync(data, `${data}.other`);
    renameSync(`${data}.other`, data);
    copyFileSync(staged.path, path);
    staged.discard();
    expect(weights(path).get("w")).toHaveLength(2400);
  });

  it.each([8000, 2000, 64])("cleans up when a tensor of %d bytes cannot be read", (byteLength) => {
    for (const externalData of [false, true]) {
      const path = fileOf("old");
      const tensor = { ...floats("w", byteLength / 4), source: failing(byteLength) };
      expect(() => stageModel(modelOf({ initializer: [tensor] }), path, { externalData })).toThrow("the source broke");
      expect(readFileSync(path, "utf8")).toBe("old");
      expect(readdirSync(join(path, ".."))).toEqual(["model.onnx"]);
    }
  });

  it("says why it cannot write", () => {
    const model = parseModel(text);
    const folder = temporaryFolder();
    const file = fileOf("x");
    const reason = (path: string) => () => saveModel(model, path).commit();
    expect(reason(join(folder, "none", "m.onnx"))).toThrow(/its folder does not exist/);
    expect(reason(folder)).toThrow(/it is a folder/);
    expect(reason(join(file, "m.onnx"))).toThrow(/part of its path is a file/);
    expect(reason(join(folder, `${"n".repeat(300)}.onnx`))).toThrow(/name is too long/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("never puts a file in the place of a device", () => {
    expect(codeOf(() => saveModel(parseModel(text), "/dev/null").commit())).toBe("OUTPUT_FAILED");
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it("leaves a full disk as it was (skipped where no disk can be mounted)", ({ skip }) => {
    const disk = tinyDisk();
    if (!disk) return skip();
    const path = join(disk, "m.onnx");
    saveModel(parseModel(text), path).commit();
    const before = readFileSync(path);
    const big = parseModel("(x: f32[1,500000]) -> (y) { y = Add(x, $w: f32[1,500000]) }");
    for (const externalData of [false, true]) {
      expect(() => saveModel(big, path, { externalData })).toThrow(
        expect.objectContaining({ code: "OUTPUT_FAILED", message: expect.stringContaining("the disk is full") }),
      );
      expect(readdirSync(disk)).toEqual(["m.onnx"]);
      expect(readFileSync(path)).toEqual(before);
    }
  });
});

describe("external data written", () => {
  const tensors = [floats("a", 1000, 1), floats("tiny", 4), floats("b", 300, 2)];
  const sourced = () =>
    tensors.map(({ raw_data, ...tensor }) => ({ ...tensor, source: memorySource(raw_data as Uint8Array) }));

  it("starts on pages, and small tensors stay inside", () => {
    const path = join(temporaryFolder(), "m.onnx");
    const message = modelOf({ initializer: sourced() });
    stageModel(message, path, { externalData: true }).commit();
    const folder = join(path, "..");
    const data = readdirSync(folder).find((name) => name.endsWith(".data"))!;
    const bytes = readFileSync(join(folder, data));
    expect(data).toBe(`m.onnx.${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}.data`);
    expect(new Uint8Array(bytes.subarray(0, 4000))).toEqual(tensors[0]!.raw_data);
    expect(new Uint8Array(bytes.subarray(4096))).toEqual(tensors[2]!.raw_data);
    expect(readFileSync(path).indexOf(Buffer.from(tensors[1]!.raw_data!))).toBeGreaterThan(0);
  });

  it("reads back equal", () => {
    const [inside, outside] = [join(temporaryFolder(), "m.onnx"), join(temporaryFolder(), "m.onnx")];
    stageModel(modelOf({ initializer: sourced() }), inside).commit();
    stageModel(modelOf({ initializer: sourced() }), outside, { externalData: true }).commit();
    expect(weights(outside)).toEqual(weights(inside));
    expect(weights(inside).get("a")).toEqual([...tensors[0]!.raw_data!]);
  });

  it("comes unasked when the weights exceed the limit of protobuf", () => {
    const path = join(temporaryFolder(), "m.onnx");
    stageModel(modelOf({ initializer: sourced() }), path, { inlineLimit: 5216 }).commit();
    expect(readdirSync(join(path, ".."))).toHaveLength(1);
    stageModel(modelOf({ initializer: sourced() }), path, { inlineLimit: 5215 }).commit();
    expect(readdirSync(join(path, ".."))).toHaveLength(2);
  });

  it("leaves the message as it was, so that it can be written again", () => {
    const message = modelOf({ initializer: sourced() });
    const [first, second] = [join(temporaryFolder(), "m.onnx"), join(temporaryFolder(), "m.onnx")];
    stageModel(message, first, { externalData: true }).commit();
    stageModel(message, second).commit();
    expect(readdirSync(join(second, ".."))).toEqual(["m.onnx"]);
    expect(weights(second)).toEqual(weights(first));
  });

  it("does not change a model's opaque parts, which later saves write again", () => {
    const values = { ...floats("s", 2000), dims: [{ low: 2000, high: 0, unsigned: false }] };
    const sparse = modelFile({
      sparse_initializer: [{ values, indices: { ...values, name: "", data_type: 7, raw_data: new Uint8Array(16000) } }],
    });
    const model = loadModel(sparse);
    const [first, second] = [join(temporaryFolder(), "m.onnx"), join(temporaryFolder(), "m.onnx")];
    saveModel(model, first, { externalData: true }).commit();
    saveModel(model, second).commit();
    expect(readdirSync(join(second, ".."))).toEqual(["m.onnx"]);
    expect(statSync(second).size).toBeGreaterThan(24_000);
  });

  it("holds the weights of bodies too", () => {
    const model = parseModel(`(c: bool[]) -> (y) {
      y = If<then_branch=() -> (t) { t = Neg($w: f32[600]) }, else_branch=() -> (e) { e = Abs($v: f32[600]) }>(c)
    }`);
    const path = join(temporaryFolder(), "m.onnx");
    saveModel(model, path, { externalData: true }).commit();
    expect(statSync(path).size).toBeLessThan(2000);
    const bodies = loadModel(path).graph.firstNode!.bodies;
    expect(bodies.map((body) => body.constants[0]!.constant!.byteLength)).toEqual([2400, 2400]);
  });

  it("leaves tensors of attributes inside, where readers look for them", () => {
    const model = parseModel("(x: i64[1]) -> (y) { y = Custom(x) }");
    model.graph.setAttribute(model.graph.firstNode!, "table", attr.tensor(Tensor.f32([600], new Float32Array(600))));
    const folder = temporaryFolder();
    saveModel(model, join(folder, "m.onnx"), { externalData: true }).commit();
    expect(readdirSync(folder)).toEqual(["m.onnx"]);
  });
});

it("writes equal bytes for equal models", () => {
  const write = (): string => {
    const path = join(temporaryFolder(), "m.onnx");
    saveModel(parseModel(text), path).commit();
    return readFileSync(path).toString("base64");
  };
  expect(write()).toBe(write());
});
