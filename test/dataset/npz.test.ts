import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openNpz } from "../../src/dataset/npz.js";
import { Tensor } from "../../src/ir/index.js";
import { faultOf, numbersOf, samplesOf } from "../support/dataset.js";
import { f32Npy, i64Npy, npy, npz, zip } from "../support/npz.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const open = (file: Uint8Array) => openNpz(`${temporaryFolder({ "x.npz": file })}/x.npz`);
const faultOfReading = (file: Uint8Array) => faultOf(async () => samplesOf(await open(file)));

/** Incompressible enough that a row spans several chunks of a stream. */
function noise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, () => (state = Math.imul(state, 48271) & 0x7fff_ffff));
}

describe("openNpz", () => {
  it("makes each row a sample with a batch axis of 1", async () => {
    const dataset = await open(npz({ x: f32Npy([3, 2], [1, 2, 3, 4, 5, 6]) }));
    const samples = await samplesOf(dataset);
    expect(dataset).toMatchObject({ count: 3, hasLabels: false });
    expect(samples.map(({ feeds }) => numbersOf(feeds.get("x")))).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect(samples[1]).toMatchObject({ id: "x.npz[1]", labels: null });
    expect(samples[1]!.feeds.get("x")!.dims).toEqual([1, 2]);
  });

  it("says what labels are where there is nothing else", async () => {
    const fault = await faultOf(() => open(npz({ labels: i64Npy([2], [7, 8]) })));
    expect(fault.code).toBe("DATASET_EMPTY");
    expect(fault.hint).toContain("to the metric, and to no input");
  });

  it("takes the array `labels` for labels, without the sample axis", async () => {
    const dataset = await open(npz({ x: f32Npy([2, 1], [1, 2]), labels: i64Npy([2], [7, 8]) }));
    const [, second] = await samplesOf(dataset);
    expect(dataset.hasLabels).toBe(true);
    expect([...second!.feeds.keys()]).toEqual(["x"]);
    const labels = second!.labels as Tensor;
    expect(labels).toBeInstanceOf(Tensor);
    expect([labels.dims, numbersOf(labels)]).toEqual([[], [8]]);
  });

  it.each([
    ["stored", {}],
    ["deflated", { deflate: true }],
    ["stored zip64", { zip64: true }],
    ["deflated zip64", { deflate: true, zip64: true }],
  ])("reads rows in any order from a %s archive", async (_, options) => {
    const values = noise(40 * 5000);
    const dataset = await open(npz({ x: npy("<f4", [40, 5000], values) }, options));
    const order = [0, 1, 17, 5, 5, 39, 0];
    const samples = await samplesOf(dataset, order);
    expect(samples.map(({ id }) => id)).toEqual(order.map((i) => `x.npz[${i}]`));
    for (const [at, i] of order.entries()) {
      expect(samples[at]!.feeds.get("x")!.f32()).toEqual(values.slice(i * 5000, (i + 1) * 5000));
    }
  });

  it("gives the same rows as the whole array, whatever the order", async () => {
    const array = fc.record({
      count: fc.integer({ min: 1, max: 6 }),
      rest: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
      deflate: fc.boolean(),
      order: fc.array(fc.nat(5), { maxLength: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(array, async ({ count, rest, deflate, order }) => {
        const size = rest.reduce((product, dim) => product * dim, 1);
        const values = noise(count * size);
        const dataset = await open(npz({ x: npy("<f4", [count, ...rest], values) }, { deflate }));
        const indices = order.filter((i) => i < count);
        const rows = (await samplesOf(dataset, indices)).map(({ feeds }) => feeds.get("x")!);
        expect(rows.map((row) => row.dims)).toEqual(indices.map(() => [1, ...rest]));
        expect(rows.map((row) => row.f32())).toEqual(indices.map((i) => values.slice(i * size, (i + 1) * size)));
      }),
      { numRuns: 40 },
    );
  });

  it("gives Fortran-ordered and big-endian arrays the same rows", async () => {
    // [[[1,2],[3,4]], [[5,6],[7,8]]], first index fastest.
    const fortran = Buffer.alloc(16);
    for (const [i, value] of [1, 5, 3, 7, 2, 6, 4, 8].entries()) fortran.writeInt16BE(value, i * 2);
    const dataset = await open(npz({ x: npy(">i2", [2, 2, 2], fortran, { fortran: true }) }));
    const rows = (await samplesOf(dataset, [1, 0])).map(({ feeds }) => numbersOf(feeds.get("x")));
    expect(rows).toEqual([
      [5, 6, 7, 8],
      [1, 2, 3, 4],
    ]);
  });

  it("keeps rows apart: writing one does not change the next", async () => {
    const samples = await samplesOf(await open(npz({ x: f32Npy([2, 1], [1, 2]) })));
    samples[0]!.feeds.get("x")!.bytes().fill(0xff);
    expect(numbersOf(samples[1]!.feeds.get("x"))).toEqual([2]);
  });

  it("lets several passes run at once", async () => {
    const dataset = await open(npz({ x: f32Npy([3, 1], [1, 2, 3]) }, { deflate: true }));
    const [a, b] = await Promise.all([samplesOf(dataset, [0, 2]), samplesOf(dataset, [2, 1])]);
    expect([a, b].map((pass) => pass!.map(({ feeds }) => numbersOf(feeds.get("x"))[0]))).toEqual([
      [1, 3],
      [3, 2],
    ]);
  });

  it("accepts input names that look like paths", async () => {
    const [sample] = await samplesOf(await open(npz({ "/encoder/../x": f32Npy([1, 1], [4]) })));
    expect([...sample!.feeds.keys()]).toEqual(["/encoder/../x"]);
  });
});

describe("openNpz refuses", () => {
  it("arrays of different lengths, naming them", async () => {
    const fault = await faultOf(() => open(npz({ x: f32Npy([3, 1], [1, 2, 3]), labels: i64Npy([2], [0, 1]) })));
    expect(fault.code).toBe("DATASET_COUNTS_DIFFER");
    expect(fault.message).toContain('"x" has 3, "labels" has 2');
  });

  it.each([
    ["no arrays", {}],
    ["labels only", { labels: i64Npy([2], [0, 1]) }],
    ["an empty first axis", { x: f32Npy([0, 4], []) }],
  ])("%s", async (_, arrays) => {
    expect((await faultOf(() => open(npz(arrays)))).code).toBe("DATASET_EMPTY");
  });

  it("an array without axes", async () => {
    const fault = await faultOf(() => open(npz({ x: f32Npy([], [1]) })));
    expect(fault.code).toBe("DATASET_ARRAY_INVALID");
    expect(fault.message).toContain('array "x"');
  });

  it("arrays of objects by name", async () => {
    const fault = await faultOf(() => open(npz({ boxes: npy("|O", [1], new Uint8Array(4)) })));
    expect(fault.code).toBe("DATASET_ARRAY_TYPE");
    expect(fault.message).toContain('array "boxes"');
  });

  it("members that are no arrays", async () => {
    const fault = await faultOf(() => open(zip({ "x.npy": f32Npy([1], [1]), "readme.txt": Buffer.from("hello") })));
    expect(fault.code).toBe("DATASET_ARRAY_INVALID");
    expect(fault.message).toContain("readme.txt");
  });

  it("a header that claims more than the member holds", async () => {
    expect((await faultOf(() => open(npz({ x: f32Npy([1000, 1000], [1]) })))).code).toBe("DATASET_ARRAY_INVALID");
  });

  it("a truncated archive", async () => {
    const whole = npz({ x: f32Npy([2, 1], [1, 2]) });
    expect((await faultOf(() => open(whole.subarray(0, whole.length - 30)))).code).toBe("DATASET_ARCHIVE_DAMAGED");
  });

  it.each([false, true])("elements that do not agree with the checksum (deflate: %s)", async (deflate) => {
    const damaged = npz({ x: npy("<f4", [64, 64], noise(4096)) }, { deflate });
    damaged[4000] = damaged[4000]! ^ 0x55;
    expect((await faultOfReading(damaged)).code).toBe("DATASET_ARCHIVE_DAMAGED");
  });

  it("a member that inflates to more than the archive says", async () => {
    const claimed = npy("<f4", [64, 64], noise(4096)).length;
    const longer = npz({ x: npy("<f4", [64, 64], noise(8192)) }, { deflate: true });
    longer.writeUInt32LE(claimed, longer.indexOf("PK\x01\x02", 0, "latin1") + 24);
    const fault = await faultOfReading(longer);
    expect(fault.code).toBe("DATASET_ARCHIVE_DAMAGED");
    expect(fault.message).toContain(`longer than its ${claimed} bytes`);
  });

  it("an index that is not there", async () => {
    const dataset = await open(npz({ x: f32Npy([2, 1], [1, 2]) }));
    const fault = await faultOf(() => samplesOf(dataset, [0, 2]));
    expect(fault.code).toBe("DATASET_INDEX");
    expect(fault.fields).toEqual({ index: 2, count: 2 });
  });
});
