import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { graphsWithin, loadModel, type Model, nodesWithin, savedBytes, saveModel } from "../ir/index.js";
import type { FuseConfig, OutputConfig } from "./config.js";
import { refusedByTarget } from "./inspect-target.js";
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
  /** "" for a model that came from no file. */
  readonly path: string;
  /** Beside it, with weights of it. */
  readonly dataFiles: readonly string[];
  /** Whether it says something of values inside the graph. */
  readonly describesValues: boolean;
}

export const formOf = (model: Model): FileForm => ({
  path: model.path,
  dataFiles: externalFiles(model),
  describesValues: [...nodesWithin(model.graph)].some((node) => node.outputs.some((value) => value?.info)),
});

/** What of a run says where its output goes, and where that is to run. */
type Wanted = Pick<FuseConfig, "out" | "graph">;

/** Writes a model that lies in the scratch folder, and warns where its target does not take it. */
export function writeOutput(scratch: string, original: Model, wanted: Wanted, record: RunRecord): ModelFacts | null {
  return wanted.out.output === null ? null : write(scratch, original, wanted, wanted.out.output, record);
}

/** A candidate that missed a limit, kept because the user said so: OUT.rejected.onnx. */
export function writeRejected(scratch: string, original: Model, wanted: Wanted, record: RunRecord): ModelFacts | null {
  const { output, keepRejected } = wanted.out;
  if (output === null || !keepRejected) return null;
  return write(scratch, original, wanted, `${output.replace(/\.onnx$/i, "")}.rejected.onnx`, record);
}

function write(scratch: string, original: Model, { out, graph }: Wanted, path: string, record: RunRecord): ModelFacts {
  const model = loadModel(scratch);
  const refused = refusedByTarget(model, graph.target);
  if (refused) record.warn(refused);
  return stage(model, formOf(original), out, path).commit(record);
}

/** What a model would take as the output of a run, to the byte: its scratch file may say more of values. */
export function outputBytes(model: Model, original: FileForm, out: OutputConfig): number {
  const restore = original.describesValues ? () => {} : dropDescriptions(model);
  try {
    return savedBytes(model, out.output ?? "model.onnx", { externalData: goesBeside(original, out) });
  } finally {
    restore();
  }
}

const goesBeside = ({ dataFiles }: FileForm, { externalData }: OutputConfig): boolean =>
  externalData || dataFiles.length > 0;

function stage(model: Model, original: FileForm, out: OutputConfig, path: string): StagedOutput {
  const externalData = goesBeside(original, out);
  // What was found out about values on the way stays out of files that never said it: they should not grow.
  const restore = original.describesValues ? () => {} : dropDescriptions(model);
  try {
    const staged = saveModel(model, path, { externalData });
    return {
      commit(record) {
        // A model written over the original needs none of its data any more.
        const replaced = isSamePlace(original.path, path) ? original.dataFiles : [];
        staged.commit();
        const left = leftBehind(path, replaced);
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

/** However the two are spelled, or linked by name. */
export const isSamePlace = (a: string, b: string): boolean =>
  existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b);

/**
 * Data files that earlier versions of a model left beside it, in words; null when there are none. They
 * are not removed: a copy of the old model, or another model, may still read them.
 *
 * @param replaced data files of the model that was there before, whatever their names
 */
function leftBehind(path: string, replaced: readonly string[]): string | null {
  const folder = dirname(resolve(path));
  const named = readdirSync(folder).filter((file) => isDataOf(file, basename(path)));
  const present = [...replaced, ...named.map((file) => join(folder, file))].filter((file) => existsSync(file));
  const found = new Set(present.map((file) => realpathSync(file)));
  if (found.size === 0) return null;
  const inUse = new Set(externalFiles(loadModel(path)).map((file) => realpathSync(file)));
  const old = [...found].filter((file) => !inUse.has(file));
  if (old.length === 0) return null;
  const home = realpathSync(folder);
  const names = old.map((file) => join(dirname(path), relative(home, file))).join(", ");
  const [is, them] = old.length === 1 ? ["is", "it"] : ["are", "them"];
  return `weights of an earlier ${basename(path)} ${is} still there, should no copy of it need ${them}: ${names}`;
}

/** The names that saveModel gives to data files: after the model, with a digest. */
const isDataOf = (file: string, model: string): boolean =>
  file.startsWith(`${model}.`) && /^[0-9a-f]{12}\.data$/.test(file.slice(model.length + 1));
