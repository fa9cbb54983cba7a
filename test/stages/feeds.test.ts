import { describe, expect, it } from "vitest";
import { InferOptError } from "../../src/base/errors.js";
import { Tensor } from "../../src/ir/index.js";
import { feedsFrom, type Port, portable, portWords, toUserTensors } from "../../src/stages/index.js";

const image: Port = { name: "image", dtype: "f32", shape: ["N", 3, 2, 2] };
const ids: Port = { name: "ids", dtype: "i64", shape: [1, null] };
const source = { path: "/p.mjs", stage: "preprocess", request: 4 };
const pixels = { dims: [1, 3, 2, 2], data: new Float32Array(12) };

function faultOf(value: unknown, inputs: readonly Port[] = [image]): InferOptError {
  try {
    feedsFrom(value, inputs, source);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(InferOptError);
    return thrown as InferOptError;
  }
  return expect.fail("nothing was thrown");
}

describe("tensors of a stage", () => {
  it("are taken as they are, without a copy", () => {
    const tensor = feedsFrom({ image: pixels }, [image], source).get("image")!;
    expect([tensor.dtype, tensor.dims]).toEqual(["f32", [1, 3, 2, 2]]);
    expect(tensor.f32().buffer).toBe(pixels.data.buffer);
  });

  it("may come bare where the model has one input, and with a type", () => {
    expect(feedsFrom({ ...pixels, type: "float32" }, [image], source).size).toBe(1);
    const both = { image: pixels, ids: { dims: [1, 2], data: new BigInt64Array(2) } };
    expect([...feedsFrom(both, [image, ids], source).keys()]).toEqual(["image", "ids"]);
  });

  it("may be texts", () => {
    const port: Port = { name: "s", dtype: "string", shape: [2] };
    const tensor = feedsFrom({ dims: [2], data: ["a", "é"] }, [port], source).get("s")!;
    expect(toUserTensors(new Map([["s", tensor]]))).toEqual({ s: { type: "string", dims: [2], data: ["a", "é"] } });
  });

  it.each<[unknown, string, string]>([
    [undefined, "gave nothing, not tensors", 'Return { "image"'],
    [new Float32Array(12), "not tensors by the name of an input", 'Return { "image"'],
    [[1, 2], "not tensors", "Float32Array"],
    [{ imgae: pixels }, 'gave "imgae", which is no input', '"image"'],
    [{ image: null }, 'gave nothing for "image", which takes float32[N,3,2,2]', "Float32Array"],
    [{ image: { data: new Float32Array(12) } }, "gave dims nothing", "whole numbers"],
    [{ image: { dims: [1, 3, 2.5], data: new Float32Array(12) } }, "gave dims", "whole numbers"],
    [{ image: { dims: [1, 3, 2, 2], data: new Uint8Array(12) } }, "gave data of Uint8Array", "Float32Array"],
    [{ image: { dims: [1, 3, 2, 2], data: Array(12).fill(0) } }, "gave data of Array", "Float32Array"],
    [{ image: { ...pixels, type: "int64" } }, 'gave type "int64"', "Float32Array"],
    [
      { image: { dims: [1, 3, 2, 2], data: new Float32Array(11) } },
      "gave dims [1,3,2,2] and 11 elements",
      "multiplied",
    ],
    [{ image: { dims: [1, 2, 2, 3], data: new Float32Array(12) } }, "gave dims [1,2,2,3]", "order of the axes"],
    [{ image: { dims: [3, 2, 2], data: new Float32Array(12) } }, "gave dims [3,2,2]", "batch of 1"],
  ])("are refused: %o", (value, message, hint) => {
    const fault = faultOf(value);
    expect(fault).toMatchObject({ code: "PIPELINE_TENSORS", kind: "input" });
    expect(fault.message).toContain("stage preprocess of /p.mjs");
    expect(fault.message).toContain("request 4");
    expect(fault.message).toContain(message);
    expect(fault.hint).toContain(hint);
  });

  it("are asked for 64-bit integers by their name", () => {
    const fault = faultOf({ dims: [1, 2], data: new Int32Array(2) }, [ids]);
    expect(fault.hint).toContain("BigInt64Array");
  });

  it("are missed by the request where no stage stands before the model", () => {
    expect(() => feedsFrom("text", [image], { ...source, stage: null })).toThrow(
      /request 4 of \/p\.mjs, which has no stage/,
    );
  });
});

it("ports are told in words of the runtime", () => {
  expect(portWords(image)).toEqual({ name: "image", type: "float32", dims: [null, 3, 2, 2] });
  expect(portWords({ name: "q", dtype: null, shape: null })).toEqual({ name: "q", type: "no tensor", dims: null });
});

it("samples of a data set are tensors as a user writes them", () => {
  const given = toUserTensors(new Map([["ids", Tensor.i64([1, 2], [3, 4])]]));
  expect(given).toEqual({ ids: { type: "int64", dims: [1, 2], data: BigInt64Array.of(3n, 4n) } });
  expect(feedsFrom(given, [ids], source).get("ids")!.bigints()).toEqual([3n, 4n]);
});

it("what goes to another thread is plain, and brings no more memory than its own", () => {
  const large = new Float32Array(1000);
  class Odd {
    readonly dims = [4];
    readonly data = large.subarray(8, 12);
    method(): void {}
  }
  const sent = portable({ x: new Odd() }) as { x: { data: Float32Array } };
  expect(Object.keys(sent.x)).toEqual(["dims", "data"]);
  expect(sent.x.data.buffer.byteLength).toBe(16);
  expect(structuredClone(sent)).toEqual(sent);
  expect(portable(3)).toBe(3);
});
