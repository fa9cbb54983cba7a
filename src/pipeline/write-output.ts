import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { countNodes, graphsWithin, loadModel, type Model, nodesWithin, saveModel } from "../ir/index.js";
import type { OutputConfig } from "./config.js";
import { externalFiles } from "./model-facts.js";
import type { ModelFacts } from "./result.js";
import type { RunRecord } from "./run-record.js";

/**
 * Writes a model that lies in the scratch folder to where the user wants it, whole or
 * not at all. Weights go beside the model when that was asked for, when they were beside
 * the original, or when they do not fit inside.
 */
export function writeOutput(scratch: string, original: Model, out: OutputConfig, record: RunRecord): ModelFacts | null {
  if (out.output === null) return null;
  return place(scratch, original, out, out.output, record);
}

/** A candidate that missed a limit, kept because the user said so: OUT.rejected.onnx. */
export function writeRejected(
  scratch: string,
  original: Model,
  out: OutputConfig,
  record: RunRecord,
): ModelFacts | null {
  if (out.output === null || !out.keepRejected) return null;
  return place(scratch, original, out, `${out.output.replace(/\.onnx$/i, "")}.rejected.onnx`, record);
}

function place(scratch: string, original: Model, out: OutputConfig, path: string, record: RunRecord): ModelFacts {
  const externalData = out.externalData || externalFiles(original).length > 0;
  const model = loadModel(scratch);
  if (!describesValues(original)) dropDescriptions(model);
  const staged = saveModel(model, path, { externalData });
  staged.commit();
  const { sha256, sizeBytes: bytes } = staged;
  // Counted in the file: writing may put an Identity behind an output.
  const written = loadModel(path);
  const left = leftBehind(path, written);
  if (left) record.warn(left);
  return { path, sha256, bytes, nodes: countNodes(written.graph) };
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

/**
 * Data files that earlier versions of a model left beside it, in words; null when there are none. They
 * are not removed: a copy of the old model may still read them.
 */
function leftBehind(path: string, written: Model): string | null {
  const folder = dirname(resolve(path));
  const inUse = new Set(externalFiles(written).map((file) => basename(file)));
  const old = readdirSync(folder).filter((file) => isDataOf(file, basename(path)) && !inUse.has(file));
  if (old.length === 0) return null;
  const names = old.map((file) => join(dirname(path), file)).join(", ");
  const [is, them] = old.length === 1 ? ["is", "it"] : ["are", "them"];
  return `weights of an earlier ${basename(path)} ${is} still there, should no copy of it need ${them}: ${names}`;
}

/** The names that saveModel gives to data files: after the model, with a digest. */
const isDataOf = (file: string, model: string): boolean =>
  file.startsWith(`${model}.`) && /^[0-9a-f]{12}\.data$/.test(file.slice(model.length + 1));
