import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { loadModel, type Model, nodesWithin, type SavedModel, saveModel } from "../../ir/index.js";
import { refusedByTarget } from "../../target/refused-by-target.js";
import type { FuseConfig, OutputConfig } from "../config.js";
import { externalFiles, refuseReplaced } from "../model-facts.js";
import type { ModelFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";
import { rejectedPath } from "./rejected-path.js";
import { isSamePlace } from "./same-place.js";

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

/**
 * The stage in which a model that lies in the scratch folder becomes the output, or OUT.rejected.onnx where it missed a limit and
 * the user said to keep it. Warns where its target does not take it. Throws MODEL_CHANGED where the original's files are others now.
 */
export function writeJudged(
  isPassed: boolean,
  scratch: string,
  original: Model,
  { out, graph }: Wanted,
  record: RunRecord,
): Promise<ModelFacts | null> {
  return record.stage("write", () => {
    const path = isPassed ? out.output : rejectedPath(out);
    if (path === null) return null;
    // The runtime too read the original more than once, and what was measured is of the file that it was.
    refuseReplaced(original);
    const model = loadModel(scratch);
    const refused = refusedByTarget(model, graph.target);
    if (refused) record.warn(refused);
    return stage(model, formOf(original), out, path).commit(record);
  });
}

/**
 * Tells of a model that was saved what it would take as the output of a run, to the byte: its scratch file may say more of values,
 * and have its weights inside.
 */
export function bytesReckoner(original: Model, out: OutputConfig): (saved: SavedModel) => number {
  const options = formAs(formOf(original), out);
  return (saved) => saved.bytesAs(out.output ?? "model.onnx", options);
}

/** What was found out about values on the way stays out of files that never said it: they should not grow. */
const formAs = ({ dataFiles, describesValues }: FileForm, { externalData }: OutputConfig) => ({
  externalData: externalData || dataFiles.length > 0,
  isDescribed: describesValues,
});

function stage(model: Model, original: FileForm, out: OutputConfig, path: string): StagedOutput {
  const staged = saveModel(model, path, formAs(original, out));
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
}

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
  const name = basename(path);
  const names = old.map((file) => join(dirname(path), relative(home, file))).join(", ");
  return `weights of an earlier ${name} are still there: ${names}; remove them if no copy of ${name} needs them`;
}

/** The names that saveModel gives to data files: after the model, with a digest. */
const isDataOf = (file: string, model: string): boolean =>
  file.startsWith(`${model}.`) && /^[0-9a-f]{12}\.data$/.test(file.slice(model.length + 1));
