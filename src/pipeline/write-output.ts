import { countNodes, graphsWithin, loadModel, type Model, nodesWithin, saveModel } from "../ir/index.js";
import type { OutputConfig } from "./config.js";
import { externalFiles } from "./model-facts.js";
import type { ModelFacts } from "./result.js";

/**
 * Writes a model that lies in the scratch folder to where the user wants it, whole or
 * not at all. Weights go beside the model when that was asked for, when they were beside
 * the original, or when they do not fit inside.
 */
export function writeOutput(scratch: string, original: Model, out: OutputConfig): ModelFacts | null {
  if (out.output === null) return null;
  return place(scratch, original, out, out.output);
}

/** A candidate that missed a limit, kept because the user said so: OUT.rejected.onnx. */
export function writeRejected(scratch: string, original: Model, out: OutputConfig): ModelFacts | null {
  if (out.output === null || !out.keepRejected) return null;
  return place(scratch, original, out, `${out.output.replace(/\.onnx$/i, "")}.rejected.onnx`);
}

function place(scratch: string, original: Model, out: OutputConfig, path: string): ModelFacts {
  const externalData = out.externalData || externalFiles(original).length > 0;
  const model = loadModel(scratch);
  if (!describesValues(original)) dropDescriptions(model);
  const staged = saveModel(model, path, { externalData });
  staged.commit();
  const { sha256, sizeBytes: bytes } = staged;
  // Counted in the file: writing may put an Identity behind an output.
  return { path, sha256, bytes, nodes: countNodes(loadModel(path).graph) };
}

const describesValues = ({ graph }: Model): boolean =>
  [...nodesWithin(graph)].some((node) => node.outputs.some((value) => value?.info));

/** What was found out about values on the way stays out of files that never said it: they should not grow. */
function dropDescriptions({ graph }: Model): void {
  const ports = new Set([...graphsWithin(graph)].flatMap(({ outputs }) => outputs.map(({ value }) => value)));
  for (const node of nodesWithin(graph)) {
    for (const value of node.outputs) {
      if (!value || ports.has(value)) continue;
      value.type = null;
      value.info = null;
    }
  }
}
