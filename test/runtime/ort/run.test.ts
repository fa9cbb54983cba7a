import { describe, expect, it } from "vitest";
import { type DType, Tensor } from "../../../src/ir/index.js";
import { node, port, scaling, session, startRuntime, writeModel } from "./workbench.js";

const identity = (dtype: DType): string =>
  writeModel({
    node: [node("Identity", ["x"], ["y"])],
    input: [port("x", dtype, ["N"])],
    output: [port("y", dtype, ["N"])],
  });

describe("run", () => {
  it("computes what the model says", async () => {
    const outputs = await startRuntime().run(scaling(3), new Map([["x", Tensor.f32([1, 2], [1, -2])]]), session);
    expect([...outputs.get("y")!.f32()]).toEqual([3, -6]);
    expect(outputs.get("y")!.dims).toEqual([1, 2]);
  });

  const arrays: [DType, ArrayBufferView][] = [
    ["f32", new Float32Array([1.5, -2])],
    ["f64", new Float64Array([1 / 3, -2])],
    ["f16", new Uint16Array([0x3c00, 0xfbff])],
    ["i8", new Int8Array([-128, 127])],
    ["u8", new Uint8Array([0, 255])],
    ["i16", new Int16Array([-32768, 1])],
    ["u16", new Uint16Array([65535, 1])],
    ["i32", new Int32Array([-(2 ** 31), 1])],
    ["u32", new Uint32Array([2 ** 32 - 1, 1])],
    ["i64", new BigInt64Array([-(2n ** 63n), 1n])],
    ["u64", new BigUint64Array([2n ** 64n - 1n, 1n])],
    ["bool", new Uint8Array([1, 0])],
  ];
  it("passes every type in and out bit for bit", async () => {
    const runtime = startRuntime();
    for (const [dtype, array] of arrays) {
      const given = Tensor.ofArray(dtype, [2], array);
      const got = (await runtime.run(identity(dtype), new Map([["x", given]]), session)).get("y")!;
      expect([got.dtype, ...got.bytes()]).toEqual([dtype, ...given.bytes()]);
    }
  });

  it("passes strings", async () => {
    const texts = ["", "schön"].map((text) => new TextEncoder().encode(text));
    const outputs = await startRuntime().run(identity("string"), new Map([["x", Tensor.strings([2], texts)]]), session);
    expect(
      outputs
        .get("y")!
        .utf8()
        .map((text) => Buffer.from(text).toString()),
    ).toEqual(["", "schön"]);
  });

  it("passes a tensor without elements", async () => {
    const empty = Tensor.f32([0], []);
    const outputs = await startRuntime().run(identity("f32"), new Map([["x", empty]]), session);
    expect(outputs.get("y")!.dims).toEqual([0]);
  });

  it("refuses types that the binding cannot pass", async () => {
    const feeds = new Map([["x", Tensor.fromBytes("bf16", [2], new Uint8Array(4))]]);
    await expect(startRuntime().run(scaling(1), feeds, session)).rejects.toMatchObject({
      code: "TENSOR_TYPE_UNSUPPORTED",
      message: expect.stringContaining('"x" is of type bf16'),
    });
  });

  it("names the model when a run fails, with the runtime's reason in one line", async () => {
    const model = scaling(1);
    const feeds = new Map([["x", Tensor.i64([1, 2], [1, 2])]]);
    await expect(startRuntime().run(model, feeds, session)).rejects.toMatchObject({
      code: "RUN_FAILED",
      kind: "runtime",
      message: expect.stringMatching(
        /^[^\n]*model\.onnx failed on the given inputs: Unexpected input data type[^\n]*$/,
      ),
    });
  });
});
