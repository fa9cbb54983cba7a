/** Expected pixels come from Pillow 12.3 (`Image.resize`) on the same generated images. */
import { describe, expect, it } from "vitest";
import { type Pixels, type ResizeMode, resize } from "../../src/dataset/resample.js";

interface Case {
  readonly from: readonly [height: number, width: number, channels: number];
  readonly to: readonly [height: number, width: number];
  readonly mode: ResizeMode;
  readonly data: readonly number[];
}

const cases: readonly Case[] = [
  {
    from: [5, 7, 3],
    to: [2, 3],
    mode: "bilinear",
    data: [107, 93, 120, 120, 84, 112, 153, 80, 152, 137, 142, 117, 117, 90, 151, 132, 147, 164],
  },
  {
    from: [5, 7, 3],
    to: [2, 3],
    mode: "bicubic",
    data: [105, 93, 118, 118, 84, 111, 154, 75, 153, 139, 149, 113, 117, 82, 159, 132, 154, 163],
  },
  {
    from: [5, 7, 3],
    to: [2, 3],
    mode: "nearest",
    data: [29, 4, 172, 43, 70, 120, 223, 95, 174, 40, 202, 9, 2, 94, 150, 109, 172, 212],
  },
  {
    from: [2, 3, 1],
    to: [5, 7],
    mode: "bilinear",
    data: [
      220, 189, 97, 4, 46, 87, 101, 215, 185, 96, 7, 51, 94, 108, 195, 170, 94, 18, 69, 120, 137, 175, 154, 92, 28, 87,
      146, 166, 170, 150, 91, 31, 92, 153, 173,
    ],
  },
  {
    from: [2, 3, 1],
    to: [5, 7],
    mode: "bicubic",
    data: [
      247, 203, 94, 1, 27, 83, 102, 237, 196, 92, 6, 35, 94, 115, 212, 178, 88, 18, 58, 124, 149, 187, 159, 84, 29, 81,
      154, 182, 177, 152, 82, 34, 89, 165, 195,
    ],
  },
  {
    from: [2, 3, 1],
    to: [5, 7],
    mode: "nearest",
    data: [
      220, 220, 4, 4, 4, 101, 101, 220, 220, 4, 4, 4, 101, 101, 170, 170, 31, 31, 31, 173, 173, 170, 170, 31, 31, 31,
      173, 173, 170, 170, 31, 31, 31, 173, 173,
    ],
  },
  {
    from: [4, 11, 1],
    to: [4, 5],
    mode: "bilinear",
    data: [105, 107, 101, 126, 205, 41, 61, 117, 154, 122, 113, 54, 128, 25, 84, 115, 188, 153, 85, 197],
  },
  {
    from: [11, 4, 1],
    to: [5, 4],
    mode: "bicubic",
    data: [140, 117, 79, 113, 107, 154, 116, 57, 147, 33, 193, 94, 70, 40, 74, 156, 125, 100, 170, 219],
  },
  {
    from: [12, 3, 1],
    to: [3, 7],
    mode: "bicubic",
    data: [148, 135, 102, 76, 92, 119, 130, 113, 114, 104, 97, 106, 118, 117, 94, 86, 64, 51, 82, 120, 133],
  },
];

/** A linear congruential generator's bits 16 to 23, seeded with 12345. */
function generatedImage([height, width, channels]: Case["from"]): Pixels {
  let state = 12345;
  const data = Uint8Array.from({ length: height * width * channels }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fff_ffff;
    return (state >>> 16) & 255;
  });
  return { height, width, channels, data };
}

describe("resize", () => {
  it.each(cases)("gives Pillow's pixels: $mode from $from to $to", ({ from, to, mode, data }) => {
    const out = resize(generatedImage(from), to[0], to[1], mode);
    expect([out.height, out.width]).toEqual(to);
    expect([...out.data]).toEqual(data);
  });

  it("returns an image of the same size untouched", () => {
    const image = generatedImage([4, 6, 3]);
    expect(resize(image, 4, 6, "bicubic")).toBe(image);
  });

  it.each(["bilinear", "bicubic", "nearest"] as const)("keeps a flat image flat: %s", (mode) => {
    const flat = { width: 9, height: 5, channels: 1, data: new Uint8Array(45).fill(201) };
    expect(new Set(resize(flat, 7, 3, mode).data)).toEqual(new Set([201]));
  });
});
