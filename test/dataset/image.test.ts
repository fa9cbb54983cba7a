import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { decodeImage } from "../../src/dataset/image.js";
import { faultOf } from "../support/dataset.js";
import { png } from "../support/png.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const decode = (bytes: Uint8Array, color: "RGB" | "gray" = "RGB") =>
  decodeImage(`${temporaryFolder({ "x.png": bytes })}/x.png`, "x.png", color);

describe("decodeImage", () => {
  it("gives the pixels of an RGB image", async () => {
    const image = await decode(png(2, 1, 3, [255, 0, 7, 1, 2, 3]));
    expect(image).toMatchObject({ width: 2, height: 1, channels: 3 });
    expect([...image.data]).toEqual([255, 0, 7, 1, 2, 3]);
  });

  it("repeats gray in three channels", async () => {
    expect([...(await decode(png(2, 1, 1, [9, 200]))).data]).toEqual([9, 9, 9, 200, 200, 200]);
  });

  it("drops transparency without blending", async () => {
    expect([...(await decode(png(2, 1, 4, [10, 20, 30, 0, 40, 50, 60, 128]))).data]).toEqual([10, 20, 30, 40, 50, 60]);
  });

  it("weighs colours as Pillow does for gray", async () => {
    // Image.fromarray(...).convert("L") of the same three pixels.
    const image = await decode(png(3, 1, 3, [255, 0, 0, 10, 200, 30, 1, 2, 3]), "gray");
    expect(image.channels).toBe(1);
    expect([...image.data]).toEqual([76, 124, 2]);
  });

  it("keeps a gray image as it is", async () => {
    expect([...(await decode(png(2, 1, 1, [9, 200]), "gray")).data]).toEqual([9, 200]);
  });

  it("refuses CMYK, whose conversion is a matter of profiles", async () => {
    const raw = { width: 1, height: 1, channels: 3 } as const;
    const cmyk = await sharp(Buffer.from([1, 2, 3]), { raw })
      .toColourspace("cmyk")
      .jpeg()
      .toBuffer();
    expect((await faultOf(() => decode(cmyk))).message).toContain("CMYK");
  });

  it("names an image that is damaged", async () => {
    const whole = png(2, 2, 3, Array(12).fill(5));
    const fault = await faultOf(() => decode(whole.subarray(0, 45)));
    expect(fault.code).toBe("DATASET_IMAGE_INVALID");
    expect(fault.message).toMatch(/^x\.png cannot be decoded/);
  });
});
