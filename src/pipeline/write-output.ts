import { readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { graphsWithin, loadModel, type Model, nodesWithin, saveModel } from "../ir/index.js";
import type { OutputConfig } from "./config.js";
import { externalFiles } from "./model-facts.js";
import type { ModelFacts } from "./result.js";
import type { RunRecord } from "./run-record.js";

/** The whole output beside where the user wants it, to be renamed when it has proven right. */
export interface StagedOutput {
  commit(record: RunRecord): ModelFacts;
  /** Nothing happens after a commit. */
  discard(): void;
}

/**
 * Writes a model so that it can appear where the user wants it, whole or not at all. Weights go beside the model when
 * that was asked for, when they were beside the original, or when they do not fit inside. The model stays as it is.
 */
export function stageOutput(model: Model, original: FileForm, out: OutputConfig): StagedOutput | null {
  return out.output === null ? null : stage(model, original, out, out.output);
}

/** What the output takes over from the file of the original. */
export interface FileForm {
  readonly hasExternalData: boolean;
  /** Whether it says something of values inside the graph. */
  readonly describesValues: boolean;
}

export const formOf = (model: Model): FileForm => ({
  hasExternalData: externalFiles(model).length > 0,
  describesValues: [...nodesWithin(model.graph)].some((node) => node.outputs.some((value) => value?.info)),
});

/** Writes a model that lies in the scratch folder. */
export function writeOutput(scratch: string, original: Model, out: OutputConfig, record: RunRecord): ModelFacts | null {
  if (out.output === null) return null;
  return stage(loadModel(scratch), formOf(original), out, out.output).commit(record);
}

/** A candidate that missed a limit, kept because the user said so: OUT.rejected.onnx. */
export function writeRejected(
  scratch: string,
  original: Model,
  out: OutputConfig,
  record: RunRecord,
): ModelFacts | null {
  if (out.output === null || !out.keepRejected) return null;
  return stage(loadModel(scratch), formOf(original), out, `${out.output.replace(/\.onnx$/i, "")}.rejected.onnx`).commit(
    record,
  );
}

function stage(model: Model, original: FileForm, out: OutputConfig, path: string): StagedOutput {
  const externalData = out.externalData || original.hasExternalData;
  // What was found out about values on the way stays out of files that never said it: they should not grow.
  const restore = original.describesValues ? () => {} : dropDescriptions(model);
  try {
    const staged = saveModel(model, path, { externalData });
    return {
      commit(record) {
        staged.commit();
        const left = leftBehind(path);
        if (left) record.warn(left);
        const { sha256, sizeBytes: bytes, nodes } = staged;
        return { path, sha256, bytes, nodes };
      },
      discard: () => staged.discard(),
    };
  } finally {
    restore();
  }
}

/** Answers how to put them back. */
function dropDescriptions({ graph }: Model): () => void {
  const ports = new Set([...graphsWithin(graph)].flatMap(({ outputs }) => outputs.map(({ value }) => value)));
  const dropped = [...nodesWithin(graph)].flatMap((node) =>
    node.outputs.flatMap((value) =>
      value && !ports.has(value) ? [{ value, type: value.type, info: value.info }] : [],
    ),
  );
  for (const { value } of dropped) {
    value.type = null;
    value.info = null;
  }
  return () => {
    for (const { value, type, info } of dropped) {
      value.type = type;
      value.info = info;
    }
  };
}

/**
 * Data files that earlier versions of a model left beside it, in words; null when there are none. They
 * are not removed: a copy of the old model may still read them.
 */
function leftBehind(path: string): string | null {
  const folder = dirname(resolve(path));
  const found = readdirSync(folder).filter((file) => isDataOf(file, basename(path)));
  if (found.length === 0) return null;
  const inUse = new Set(externalFiles(loadModel(path)).map((file) => basename(file)));
  const old = found.filter((file) => !inUse.has(file));
  if (old.length === 0) return null;
  const names = old.map((file) => join(dirname(path), file)).join(", ");
  const [is, them] = old.length === 1 ? ["is", "it"] : ["are", "them"];
  return `weights of an earlier ${basename(path)} ${is} still there, should no copy of it need ${them}: ${names}`;
}

/** The names that saveModel gives to data files: after the model, with a digest. */
const isDataOf = (file: string, model: string): boolean =>
  file.startsWith(`${model}.`) && /^[0-9a-f]{12}\.data$/.test(file.slice(model.length + 1));
