import { describe, expect, it } from "vitest";
import { type Preprocess, preprocess } from "../../src/dataset/preprocess.js";
import type { Pixels } from "../../src/dataset/resample.js";
import { faultOf, numbersOf } from "../support/dataset.js";

const plain: Preprocess = {
  resize: null,
  crop: null,
  channels: "RGB",
  scale: 1,
  mean: [0],
  std: [1],
  layout: "NCHW",
  dtype: "f32",
};

/** Gray pixels whose value is their position. */
const counting = (height: number, width: number): Pixels => ({
  height,
  width,
  channels: 1,
  data: Uint8Array.from({ length: height * width }, (_, i) => i),
});

const rgb: Pixels = { height: 1, width: 2, channels: 3, data: Uint8Array.of(1, 2, 3, 4, 5, 6) };
const run = (image: Pixels, steps: Partial<Preprocess>) => preprocess(image, { ...plain, ...steps }, "x.png");

describe("preprocess", () => {
  it("puts channels first", () => {
    const tensor = run(rgb, {});
    expect([tensor.dims, numbersOf(tensor)]).toEqual([
      [1, 3, 1, 2],
      [1, 4, 2, 5, 3, 6],
    ]);
  });

  it("puts channels last", () => {
    const tensor = run(rgb, { layout: "NHWC" });
    expect([tensor.dims, numbersOf(tensor)]).toEqual([
      [1, 1, 2, 3],
      [1, 2, 3, 4, 5, 6],
    ]);
  });

  it("swaps red and blue", () => {
    expect(numbersOf(run(rgb, { channels: "BGR" }))).toEqual([3, 6, 2, 5, 1, 4]);
  });

  it("scales, then subtracts the mean and divides by the deviation of each channel", () => {
    const tensor = run(rgb, { scale: 0.5, mean: [0, 1, 2], std: [1, 2, 4] });
    expect(numbersOf(tensor)).toEqual([0.5, 2, 0, 0.75, -0.125, 0.25]);
  });

  it("takes the mean in the order of the channels of the result", () => {
    expect(numbersOf(run(rgb, { channels: "BGR", mean: [100, 0, 0] }))).toEqual([-97, -94, 2, 5, 1, 4]);
  });

  it.each(["u8", "f16"] as const)("makes %s", (dtype) => {
    const tensor = run(rgb, { dtype, layout: "NHWC" });
    expect([tensor.dtype, numbersOf(tensor)]).toEqual([dtype, [1, 2, 3, 4, 5, 6]]);
  });

  it.each([
    [
      [4, 6],
      [2, 2],
      [8, 9, 14, 15],
    ],
    // An odd margin of 1 or 5 pixels: half of it, rounded to even.
    [
      [3, 3],
      [2, 2],
      [0, 1, 3, 4],
    ],
    [[1, 6], [1, 1], [2]],
    [[1, 4], [1, 1], [2]],
  ] as const)("cuts from the centre of %o: %o", ([height, width], crop, expected) => {
    expect(numbersOf(run(counting(height, width), { crop }))).toEqual(expected);
  });

  it("refuses a crop larger than the image", async () => {
    const fault = await faultOf(() => run(counting(3, 3), { crop: [4, 2] }));
    expect(fault.code).toBe("DATASET_IMAGE_SIZE");
  });

  it.each([
    [
      [10, 21],
      [4, 8],
    ],
    [
      [21, 10],
      [8, 4],
    ],
    [
      [6, 6],
      [4, 4],
    ],
  ] as const)("resizes the short side of %o to 4", ([height, width], expected) => {
    const tensor = run(counting(height, width), { resize: { shortSide: 4, mode: "nearest" } });
    expect(tensor.dims).toEqual([1, 1, ...expected]);
  });

  it("stretches to a size", () => {
    const resize = { size: [1, 2], mode: "nearest", fit: "stretch", fill: 0 } as const;
    expect(numbersOf(run(counting(2, 4), { resize }))).toEqual([5, 7]);
  });

  it("pads to a size, an odd pixel below", () => {
    const resize = { size: [5, 2], mode: "nearest", fit: "pad", fill: 99 } as const;
    const tensor = run({ ...counting(2, 2), data: Uint8Array.of(1, 2, 3, 4) }, { resize });
    expect(tensor.dims).toEqual([1, 1, 5, 2]);
    expect(numbersOf(tensor)).toEqual([99, 99, 1, 2, 3, 4, 99, 99, 99, 99]);
  });
});
