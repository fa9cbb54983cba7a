import { describe, expect, it } from "vitest";
import { NPY_PREFIX_BYTES, npyDataOffset, parseNpyHeader, readNpyFile } from "../../src/dataset/npy.js";
import { faultOf, numbersOf } from "../support/dataset.js";
import { npy } from "../support/npz.js";
import { temporaryFolder } from "../support/temporary-folder.js";

function headerOf(file: Buffer) {
  const offset = npyDataOffset(file.subarray(0, NPY_PREFIX_BYTES), "x");
  return parseNpyHeader(file.subarray(0, offset), "x");
}

const read = (file: Uint8Array) => readNpyFile(`${temporaryFolder({ "x.npy": file })}/x.npy`, "x.npy");

describe("parseNpyHeader", () => {
  it.each([1, 2, 3] as const)("reads format version %i", (version) => {
    const header = headerOf(npy("<f4", [2, 3], new Float32Array(6), { version }));
    expect(header).toMatchObject({ dtype: "f32", dims: [2, 3], fortranOrder: false, bigEndian: false });
  });

  it.each([
    ["<f2", "f16"],
    ["<f4", "f32"],
    ["<f8", "f64"],
    ["|i1", "i8"],
    ["<i2", "i16"],
    ["<i4", "i32"],
    ["<i8", "i64"],
    ["|u1", "u8"],
    ["<u2", "u16"],
    ["<u4", "u32"],
    ["<u8", "u64"],
    ["|b1", "bool"],
  ])("reads %s as %s", (descr, dtype) => {
    expect(headerOf(npy(descr, [0], new Uint8Array(0))).dtype).toBe(dtype);
  });

  it("reads a shape without axes", () => {
    expect(headerOf(npy("<f4", [], new Float32Array(1))).dims).toEqual([]);
  });

  it("refuses arrays of objects by name", async () => {
    const fault = await faultOf(() => headerOf(npy("|O", [3], new Uint8Array(3))));
    expect(fault.code).toBe("DATASET_ARRAY_TYPE");
    expect(fault.message).toBe("x is an array of Python objects, which are never unpickled");
  });

  it.each(["<U5", "|S3", "<c8", "<M8[ns]"])("refuses element type %s", async (descr) => {
    expect((await faultOf(() => headerOf(npy(descr, [3], new Uint8Array(0))))).code).toBe("DATASET_ARRAY_TYPE");
  });

  it("refuses bytes that are no array", async () => {
    expect((await faultOf(() => headerOf(Buffer.from("not an array at all")))).code).toBe("DATASET_ARRAY_INVALID");
  });
});

describe("readNpyFile", () => {
  it("gives the array with its own shape", async () => {
    const tensor = await read(npy("<f4", [2, 2], Float32Array.of(1, 2, 3, 4)));
    expect(tensor.dims).toEqual([2, 2]);
    expect(numbersOf(tensor)).toEqual([1, 2, 3, 4]);
  });

  it("converts big-endian elements", async () => {
    const data = Buffer.alloc(8);
    data.writeFloatBE(1.5, 0);
    data.writeFloatBE(-2, 4);
    expect(numbersOf(await read(npy(">f4", [2], data)))).toEqual([1.5, -2]);
  });

  it("puts Fortran order right", async () => {
    // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]]) lies in the file column by column.
    const tensor = await read(npy("<i4", [2, 3], Int32Array.of(1, 4, 2, 5, 3, 6), { fortran: true }));
    expect(numbersOf(tensor)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("refuses a truncated file", async () => {
    const whole = npy("<f4", [4], new Float32Array(4));
    const fault = await faultOf(() => read(whole.subarray(0, whole.length - 4)));
    expect(fault.code).toBe("DATASET_ARRAY_INVALID");
    expect(fault.message).toBe("x.npy holds 12 bytes where shape [4] asks for 16");
  });
});
