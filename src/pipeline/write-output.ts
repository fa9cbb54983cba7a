import { loadModel, type Model, saveModel } from "../ir/index.js";
import type { OutputConfig } from "./config.js";
import { externalFiles, modelFacts } from "./model-facts.js";
import type { ModelFacts } from "./result.js";

/**
 * Writes a model that lies in the scratch folder to where the user wants it, whole or
 * not at all. Weights go beside the model when that was asked for, when they were beside
 * the original, or when they do not fit inside.
 */
export async function writeOutput(scratch: string, original: Model, out: OutputConfig): Promise<ModelFacts | null> {
  if (out.output === null) return null;
  return place(scratch, original, out, out.output);
}

/** A candidate that missed a limit, kept because the user said so: OUT.rejected.onnx. */
export async function writeRejected(scratch: string, original: Model, out: OutputConfig): Promise<ModelFacts | null> {
  if (out.output === null || !out.keepRejected) return null;
  return place(scratch, original, out, `${out.output.replace(/\.onnx$/i, "")}.rejected.onnx`);
}

async function place(scratch: string, original: Model, out: OutputConfig, path: string): Promise<ModelFacts> {
  const externalData = out.externalData || externalFiles(original).length > 0;
  saveModel(loadModel(scratch), path, { externalData }).commit();
  return modelFacts(path);
}
