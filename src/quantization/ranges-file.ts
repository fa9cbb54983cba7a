/**
 * Calibration statistics as a file: what was counted, of which model, on which data.
 * Whole statistics rather than ranges, so that any method can choose from them and
 * parts made on several machines can be joined.
 */
import { readFileSync } from "node:fs";
import { InferOptError, messageOf } from "../base/errors.js";
import { mergeTaps, type TapJson, type TapStatistics, tapFromJson, tapToJson } from "../observe/index.js";

export interface RangesPart {
  /** Part `index` of `of`, counted from 1. */
  readonly index: number;
  readonly of: number;
  /** Digest of the samples of this part. */
  readonly data: string;
  /** And of all that were parted; absent in files of earlier versions. */
  readonly whole?: string;
  readonly samples: number;
}

export interface RangesFile {
  readonly schemaVersion: 1;
  readonly kind: "infer-opt ranges";
  readonly tool: string;
  /** Digest of the model file that was calibrated. */
  readonly model: string;
  /** Passes and opset change what the tensors are called: the recipe that made the names. */
  readonly recipe: string;
  readonly parts: readonly RangesPart[];
  readonly taps: readonly TapJson[];
}

export const tapsOf = (file: RangesFile): ReadonlyMap<string, TapStatistics> =>
  new Map(file.taps.map((json) => [json.name, tapFromJson(json)]));

export const rangesOf = (
  facts: Pick<RangesFile, "tool" | "model" | "recipe" | "parts">,
  taps: ReadonlyMap<string, TapStatistics>,
): RangesFile => ({
  schemaVersion: 1,
  kind: "infer-opt ranges",
  ...facts,
  taps: [...taps.values()].map(tapToJson),
});

/** Throws RANGES_UNREADABLE, RANGES_INVALID, or TAP_DAMAGED naming the tensor. */
export function readRanges(path: string): RangesFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new InferOptError("RANGES_UNREADABLE", "input", `cannot read the ranges ${path}: ${messageOf(cause)}`, {
      hint: "Make them with `infer-opt calibrate MODEL --calibration DATA -o RANGES`.",
      cause,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(path, `it is no JSON (${messageOf(cause)})`, cause);
  }
  const file = json as Partial<RangesFile> | null;
  if (file?.kind !== "infer-opt ranges") throw invalid(path, "it was not written by `infer-opt calibrate`");
  if (file.schemaVersion !== 1) throw invalid(path, `its schema version is ${file.schemaVersion}, this tool knows 1`);
  if (!Array.isArray(file.taps) || !Array.isArray(file.parts) || typeof file.model !== "string") {
    throw invalid(path, "fields are missing");
  }
  const isPart = (part: RangesPart | null): boolean =>
    part !== null &&
    [part.index, part.of, part.samples].every(Number.isInteger) &&
    part.index >= 1 &&
    part.index <= part.of;
  if (file.parts.length === 0 || !file.parts.every(isPart)) throw invalid(path, "its parts are not numbered");
  try {
    file.taps.forEach(tapFromJson);
  } catch (cause) {
    if (!(cause instanceof InferOptError)) throw cause;
    const { code, kind, message, hint, fields } = cause;
    throw new InferOptError(code, kind, `${path}: ${message}`, {
      ...(hint && { hint }),
      cause,
      fields: { path, ...fields },
    });
  }
  return file as RangesFile;
}

/**
 * Joins parts of one calibration. The result does not depend on the order given.
 * Throws RANGES_FOREIGN when they belong to different models, recipes or data, and
 * RANGES_PARTS when one is given twice or missing.
 */
export function mergeRanges(files: readonly RangesFile[]): RangesFile {
  const [first, ...rest] = files;
  if (!first) throw partsError("there is nothing to merge");
  for (const file of rest) {
    if (file.model !== first.model || file.recipe !== first.recipe) {
      throw new InferOptError("RANGES_FOREIGN", "input", "the parts were calibrated on different models", {
        hint: "Calibrate every part on the same model file with the same version.",
        fields: { models: files.map(({ model }) => model) },
      });
    }
  }
  const parts = files.flatMap((file) => file.parts).sort((a, b) => a.index - b.index);
  // Of what earlier versions parted nobody knows.
  const [told, ...others] = parts.filter(({ whole }) => whole !== undefined);
  const odd = others.find(({ whole }) => whole !== told!.whole);
  if (told && odd) {
    throw new InferOptError(
      "RANGES_FOREIGN",
      "input",
      `part ${odd.index}/${odd.of} was calibrated on other data than part ${told.index}/${told.of}`,
      {
        hint: "Give every part the same samples in the same order as --calibration: which of them it takes follows from --shard.",
        fields: { data: [told.whole, odd.whole] },
      },
    );
  }
  parts.forEach((part, i) => {
    if (part.of !== parts[0]!.of) throw partsError(`parts of ${parts[0]!.of} and of ${part.of} are mixed`);
    if (i > 0 && parts[i - 1]!.index === part.index) throw partsError(`part ${part.index}/${part.of} is given twice`);
  });
  if (parts.length !== parts[0]!.of) {
    const missing = Array.from({ length: parts[0]!.of }, (_, i) => i + 1).filter(
      (i) => !parts.some((p) => p.index === i),
    );
    throw partsError(`part ${missing.join(", ")} of ${parts[0]!.of} is missing`);
  }
  const taps = new Map<string, TapStatistics>();
  const names = new Set(first.taps.map(({ name }) => name));
  for (const file of files) {
    const others = new Set(file.taps.map(({ name }) => name));
    const alone = [...names].find((name) => !others.has(name)) ?? [...others].find((name) => !names.has(name));
    if (alone !== undefined) {
      throw new InferOptError("RANGES_FOREIGN", "input", `only some of the parts know tensor ${alone}`, {
        hint: "Calibrate every part with the same options.",
        fields: { tensor: alone },
      });
    }
    for (const [name, tap] of tapsOf(file)) {
      const known = taps.get(name);
      taps.set(name, known ? mergeTaps(known, tap) : tap);
    }
  }
  const ordered = new Map([...taps].sort(([a], [b]) => (a < b ? -1 : 1)));
  return rangesOf({ tool: first.tool, model: first.model, recipe: first.recipe, parts }, ordered);
}

const invalid = (path: string, why: string, cause?: unknown): InferOptError =>
  new InferOptError("RANGES_INVALID", "input", `${path} holds no ranges: ${why}`, {
    hint: "Make them again with `infer-opt calibrate`.",
    cause,
    fields: { path },
  });

const partsError = (what: string): InferOptError =>
  new InferOptError("RANGES_PARTS", "input", what, { hint: "Give each part 1/N to N/N of one calibration once." });
