/** A graph in text as a model file in a folder. */
import { join } from "node:path";
import { parseModel, saveModel } from "../../src/ir/index.js";
import type { WriteOptions } from "../../src/onnx/index.js";

export interface ModelFileOptions extends WriteOptions {
  readonly name?: string;
  readonly opset?: number;
}

/** Returns its path. */
export function modelFile(
  folder: string,
  text: string,
  { name = "model.onnx", opset = 17, ...write }: ModelFileOptions = {},
): string {
  const path = join(folder, name);
  saveModel(parseModel(text, { opset }), path, write).commit();
  return path;
}
