/** Where results may be written, decided before any work is done. */
import { accessSync, type BigIntStats, constants, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InferOptError } from "../base/errors.js";
import { isSystemError, outputFailed, refuseSpecialFile } from "../onnx/output-file.js";
import type { Settings } from "./flags.js";

/**
 * The path to write a model to: `--output`, or the input itself with `--in-place`
 * (behind a link, what it points to). Throws OUTPUT_MISSING, OUTPUT_IS_INPUT, FLAG_INVALID and what
 * `checkWritable` throws.
 */
export function modelOutput(model: string, { output, inPlace }: Pick<Settings, "output" | "inPlace">): string {
  if (inPlace && output !== null && !isSameFile(model, output)) {
    throw usage(
      "OUTPUT_CONFLICT",
      `--in-place and -o ${output} are two places to write to`,
      "Give one of them.",
      output,
    );
  }
  if (inPlace) {
    const path = isLink(model) ? (realpathOf(model) ?? model) : model;
    checkWritable(path);
    refuseSpecialFile(path, path);
    return path;
  }
  if (output !== null && otherFormat.test(output)) {
    throw usage("FLAG_INVALID", `-o ${output}: what is written is an ONNX model`, "Name it so: -o FILE.onnx.", output);
  }
  return requiredOutput({ output }, [model], "Name another file, or say --in-place if the input may be replaced.");
}

/** Files of other programs, which are no ONNX models whatever their name says. */
const otherFormat = /\.(pt|pth|ts|tflite|engine|plan|trt|ort|safetensors|gguf|h5|keras|mlmodel|mlpackage|npz)$/i;

/** `--output`, which must be a regular file and none of the inputs: it is replaced by a rename. */
export function requiredOutput(
  { output }: Pick<Settings, "output">,
  inputs: readonly string[],
  instead = OTHER_FILE,
): string {
  if (output === null) {
    throw usage("OUTPUT_MISSING", "nothing says where to write the result", "Add -o FILE.", null);
  }
  checkPlace({ flag: "-o", path: output }, inputs, [], instead);
  refuseSpecialFile(output, output);
  return output;
}

/** A file that is to be written, and the flag that asks for it. */
export interface Place {
  readonly flag: string;
  readonly path: string;
}

const OTHER_FILE = "Name another file.";

/**
 * What can be written, is no input and not where something else goes; text may go to a device or a pipe as well. Throws
 * FLAG_INVALID, OUTPUT_IS_INPUT, OUTPUT_CONFLICT and what `checkWritable` throws.
 *
 * @param instead what to do where it is an input
 */
export function checkPlace(
  { flag, path }: Place,
  inputs: readonly string[],
  others: readonly Place[] = [],
  instead = OTHER_FILE,
): void {
  if (path === "-") {
    throw usage("FLAG_INVALID", `${flag} - is no file: this is not written to standard output`, "Name a file.", path);
  }
  checkWritable(path);
  const input = inputs.find((each) => isSameFile(each, path));
  if (input !== undefined) throw usage("OUTPUT_IS_INPUT", `${flag} ${path} is the input ${input}`, instead, path);
  const other = others.find((each) => resolve(each.path) === resolve(path));
  if (other) {
    const what = flag === other.flag ? `${flag} ${path} is given twice` : `${flag} ${path} is where ${other.flag} goes`;
    throw usage("OUTPUT_CONFLICT", what, "Name a file for each.", path);
  }
}

/** Throws OUTPUT_FAILED when the folder is missing or closed, or the path names a folder. */
export function checkWritable(path: string): void {
  const folder = dirname(path);
  const failed = (why: string, hint: string, cause?: unknown): InferOptError =>
    new InferOptError("OUTPUT_FAILED", "input", `cannot write ${path}: ${why}`, { hint, cause, fields: { path } });
  const look = (at: string) => {
    try {
      return statSync(at, { throwIfNoEntry: false });
    } catch (cause) {
      throw outputFailed(path, cause);
    }
  };
  const stats = look(folder);
  if (!stats) throw failed(`the folder ${folder} does not exist`, "Make the folder first.");
  if (!stats.isDirectory()) throw failed(`${folder} is no folder`, "Name a file in an existing folder.");
  if (look(path)?.isDirectory()) throw failed("it is a folder", "Name a file.");
  try {
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw failed(`nothing may be written to the folder ${folder}`, "Write to a folder of your own.", cause);
  }
}

/**
 * Whether the bytes are the same, however the two are spelled or linked, by hard links too: a history that is added to by the one
 * name changes under the other. `isSamePlace` is about names alone.
 */
function isSameFile(a: string, b: string): boolean {
  const [first, second] = [a, b].map(identityOf);
  if (!first || !second) return false;
  // Some file systems number files 0: then the name behind the links decides.
  if (first.ino !== 0n) return first.ino === second.ino && first.dev === second.dev;
  return realpathOf(a) === realpathOf(b);
}

/** null for what is not there or cannot be looked at: reading it will say why. */
function identityOf(path: string): BigIntStats | null {
  try {
    return statSync(path, { bigint: true });
  } catch (cause) {
    if (isSystemError(cause)) return null;
    throw cause;
  }
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;

const realpathOf = (path: string): string | null =>
  statSync(path, { throwIfNoEntry: false }) ? realpathSync(path) : null;

const usage = (code: string, message: string, hint: string, output: string | null): InferOptError =>
  new InferOptError(code, "usage", message, { hint, fields: { output } });
