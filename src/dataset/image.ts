/**
 * Image files as 8-bit pixels. Decoding is left to sharp, which is optional: without it
 * everything but images works. Pixels come as Pillow's `convert("RGB")` or `convert("L")`
 * gives them: colour profiles and orientation tags ignored, transparency dropped.
 */
import { messageOf } from "../base/errors.js";
import { datasetError } from "./errors.js";
import type { Pixels } from "./resample.js";

/** `label` is what errors call the file. Throws DATASET_IMAGE_SUPPORT when sharp is missing, DATASET_IMAGE_INVALID. */
export async function decodeImage(path: string, label: string, color: "RGB" | "gray"): Promise<Pixels> {
  const sharp = await loadSharp();
  try {
    const file = sharp(path, { ignoreIcc: true, failOn: "error" });
    // Printing colours have no one conversion to RGB: libvips goes by profile, Pillow does not.
    if ((await file.metadata()).space === "cmyk") throw new Error("it is CMYK; convert it to RGB first");
    const { data, info } = await file
      .toColourspace("srgb")
      .raw({ depth: "uchar" })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    const rgb = color === "RGB";
    return {
      width,
      height,
      channels: rgb ? 3 : 1,
      data: rgb ? toRgb(data, width * height, channels) : toGray(data, width * height, channels),
    };
  } catch (cause) {
    throw datasetError(
      "DATASET_IMAGE_INVALID",
      `${label} cannot be decoded: ${messageOf(cause)}`,
      "Supported are PNG, JPEG and WebP; if it is one, the file is damaged.",
      { fields: { image: label }, cause },
    );
  }
}

async function loadSharp() {
  try {
    return (await import("sharp")).default;
  } catch (cause) {
    throw datasetError(
      "DATASET_IMAGE_SUPPORT",
      "images need the optional package sharp, which cannot be loaded",
      "Run `npm install sharp`, or save the preprocessed inputs as .npz.",
      { cause },
    );
  }
}

function toRgb(data: Uint8Array, pixels: number, channels: number): Uint8Array {
  const out = new Uint8Array(pixels * 3);
  const color = channels >= 3 ? 1 : 0;
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 3; c++) out[i * 3 + c] = data[i * channels + c * color]!;
  }
  return out;
}

/** ITU-R 601 luma in 16-bit fixed point, rounded. */
function toGray(data: Uint8Array, pixels: number, channels: number): Uint8Array {
  const out = new Uint8Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const at = i * channels;
    out[i] =
      channels < 3 ? data[at]! : (data[at]! * 19595 + data[at + 1]! * 38470 + data[at + 2]! * 7471 + 0x8000) >> 16;
  }
  return out;
}
