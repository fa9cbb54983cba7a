import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nearbyFile } from "../../src/base/nearby-file.js";
import { temporaryFolder } from "../support/temporary-folder.js";

it.each([
  ["modle.onnx", "model.onnx"],
  ["MODEL.onnx", "model.onnx"],
  ["resnet.onnx", "resnet50-int8.onnx"],
  ["sampels.npz", "samples.npz"],
  ["model", "model.onnx"],
  // An ending alone makes nothing alike, and another ending is another thing.
  ["vgg.onnx", null],
  ["samples.onnx", null],
])("for %s it is %s", (wanted, meant) => {
  const folder = temporaryFolder({ "model.onnx": "", "resnet50-int8.onnx": "", "samples.npz": "" });
  expect(nearbyFile(join(folder, wanted))).toBe(meant === null ? null : join(folder, meant));
});

it("a link to nothing is not itself what was meant", () => {
  const folder = temporaryFolder({ "model2.onnx": "" });
  symlinkSync("gone.onnx", join(folder, "model.onnx"));
  expect(nearbyFile(join(folder, "model.onnx"))).toBe(join(folder, "model2.onnx"));
});

it("there is none in a folder that is missing", () => expect(nearbyFile("no-such-folder/model.onnx")).toBeNull());
