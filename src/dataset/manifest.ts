/**
 * A folder with `manifest.json`: samples as files beside it, and how images become inputs.
 *
 *   {
 *     "version": 1,
 *     "samples": [
 *       { "inputs": { "pixel_values": "images/cat.jpg", "mask": "masks/cat.npy" }, "label": 281 }
 *     ],
 *     "preprocess": {
 *       "pixel_values": {
 *         "resize": { "shortSide": 256, "mode": "bilinear" },
 *         "crop": [224, 224],
 *         "channels": "RGB",
 *         "scale": 0.00392156862745098,
 *         "mean": [0.485, 0.456, 0.406],
 *         "std": [0.229, 0.224, 0.225],
 *         "layout": "NCHW",
 *         "dtype": "f32"
 *       }
 *     }
 *   }
 *
 * An input is a .npy file, taken as it is, or a .png, .jpg, .jpeg or .webp image. Paths are
 * relative to the folder and stay inside it. `label` is any JSON value and goes to the metric.
 * `preprocess` is by input; every key of it may be left out:
 *
 *   resize    { "size": [h, w], "fit": "stretch" | "pad", "fill": 0..255 } or { "shortSide": n },
 *             each with "mode": "bilinear" | "bicubic" | "nearest". Default: none; stretch, fill 0, bilinear.
 *   crop      [h, w] from the centre, after resizing. Default: none.
 *   channels  "RGB", "BGR" or "gray". Default: RGB.
 *   scale     a pixel (0..255) is multiplied by it. Default: 1/255, and 1 when dtype is u8.
 *   mean, std subtracted and divided by after scaling; a list with one number a channel, in the order
 *             of `channels`, or one number for all. Default: 0 and 1. Not with u8.
 *   layout    "NCHW" or "NHWC", with N = 1. Default: NCHW.
 *   dtype     "f32", "f16" or "u8". Default: f32.
 */
import { readFile, realpath } from "node:fs/promises";
import { extname, isAbsolute, join, resolve } from "node:path";
import * as v from "valibot";
import { climbsOut } from "../base/contained-path.js";
import { type InferOptError, messageOf } from "../base/errors.js";
import type { Tensor } from "../ir/index.js";
import type { Dataset, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import { decodeImage } from "./image.js";
import { faultOfLabels } from "./json-labels.js";
import { readNpyFile } from "./npy.js";
import { type Preprocess, preprocess, type ResizeStep } from "./preprocess.js";
import { resizeModes } from "./resample.js";
import { sampleOrder } from "./select.js";

export const MANIFEST = "manifest.json";
const imageExtensions: readonly string[] = [".png", ".jpg", ".jpeg", ".webp"];

const pixelCount = v.pipe(v.number(), v.integer(), v.minValue(1));
const size = v.tuple([pixelCount, pixelCount]);
const level = v.pipe(v.number(), v.finite());
const perChannel = v.union(
  [
    v.pipe(
      level,
      v.transform((one) => [one]),
    ),
    v.pipe(v.array(level), v.minLength(1), v.maxLength(3)),
  ],
  "is one number, or a list with one for each channel",
);

const resizeSchema = v.strictObject({
  size: v.optional(size),
  shortSide: v.optional(pixelCount),
  mode: v.optional(v.picklist(resizeModes), "bilinear"),
  fit: v.optional(v.picklist(["stretch", "pad"])),
  fill: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
});

const preprocessSchema = v.strictObject({
  resize: v.optional(resizeSchema),
  crop: v.optional(size),
  channels: v.optional(v.picklist(["RGB", "BGR", "gray"]), "RGB"),
  scale: v.optional(v.pipe(v.number(), v.finite())),
  mean: v.optional(perChannel),
  std: v.optional(
    v.pipe(
      perChannel,
      v.everyItem((value) => value !== 0, "std must not be 0"),
    ),
  ),
  layout: v.optional(v.picklist(["NCHW", "NHWC"]), "NCHW"),
  dtype: v.optional(v.picklist(["f32", "f16", "u8"]), "f32"),
});

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/** By names of a model, of which `constructor` may be one: v.record would leave that out without a word. */
const byName = <T extends v.GenericSchema>(schema: T) =>
  v.pipe(
    v.custom<Record<string, unknown>>(isObject, ({ received }) => `is no object, received ${received}`),
    v.rawTransform(({ dataset: { value: whole }, addIssue, NEVER }) => {
      const named = new Map<string, v.InferOutput<T>>();
      for (const [key, value] of Object.entries(whole)) {
        const parsed = v.safeParse(schema, value);
        if (!parsed.success) {
          const { message, path } = parsed.issues[0];
          addIssue({ message, path: [{ type: "object", origin: "value", input: whole, key, value }, ...(path ?? [])] });
          return NEVER;
        }
        named.set(key, parsed.output);
      }
      return named;
    }),
  );

const manifestSchema = v.strictObject({
  version: v.literal(1),
  samples: v.array(
    v.strictObject({
      inputs: v.pipe(
        byName(v.string()),
        v.check(({ size }) => size > 0, "a sample needs at least one input"),
      ),
      label: v.optional(v.unknown()),
    }),
  ),
  preprocess: v.optional(byName(preprocessSchema), {}),
});

type Manifest = v.InferOutput<typeof manifestSchema>;

/** Throws DATASET_MANIFEST_INVALID naming the path of the fault, and DATASET_EMPTY; files are opened when read. */
export async function openManifest(folder: string): Promise<Dataset> {
  const path = join(folder, MANIFEST);
  const manifest = parseManifest(path, await readFile(path, "utf8"));
  const steps = new Map(
    Array.from(manifest.preprocess, ([input, given]) => [input, complete(path, input, given)] as const),
  );
  for (const [index, { label }] of manifest.samples.entries()) {
    const fault = faultOfLabels(label);
    if (fault !== null) throw invalid(path, `samples[${index}].label`, fault);
  }
  if (manifest.samples.length === 0) {
    throw datasetError("DATASET_EMPTY", `${path} lists no samples`, "List at least one under samples.", {
      fields: { path },
    });
  }
  const home = await realpath(folder);
  const dataset: Dataset = {
    path: folder,
    count: manifest.samples.length,
    hasLabels: manifest.samples.some(({ label }) => label !== undefined),
    async *samples(indices) {
      for (const index of sampleOrder(dataset, indices)) yield await readSample(home, manifest, steps, index);
    },
  };
  return dataset;
}

async function readSample(
  home: string,
  manifest: Manifest,
  steps: ReadonlyMap<string, Preprocess>,
  index: number,
): Promise<Sample> {
  const { inputs, label } = manifest.samples[index]!;
  const feeds = new Map<string, Tensor>();
  for (const [input, file] of inputs) {
    const where = `samples[${index}].inputs["${input}"]`;
    const path = await contained(home, file, where);
    feeds.set(input, await readInput(path, file, where, steps.get(input) ?? complete("", input, defaults)));
  }
  const id = `samples[${index}] (${[...inputs.values()].join(", ")})`;
  return { id, feeds, labels: label === undefined ? null : { json: label } };
}

async function readInput(path: string, file: string, where: string, steps: Preprocess): Promise<Tensor> {
  const extension = extname(file).toLowerCase();
  if (extension === ".npy") return readNpyFile(path, file);
  if (imageExtensions.includes(extension)) {
    return preprocess(await decodeImage(path, file, steps.channels === "gray" ? "gray" : "RGB"), steps, file);
  }
  throw datasetError(
    "DATASET_FILE_TYPE",
    `${where} is "${file}", neither .npy nor an image`,
    `Use .npy, ${imageExtensions.join(", ")}.`,
    { fields: { file, where } },
  );
}

/** The file's real path. A manifest is data from elsewhere and must not reach other files, links included. */
async function contained(home: string, file: string, where: string): Promise<string> {
  const asked = resolve(home, file);
  const outside = () =>
    datasetError(
      "DATASET_PATH_OUTSIDE",
      `${where} is "${file}", outside the manifest's folder`,
      "Put the file into the folder and give its path relative to manifest.json.",
      { fields: { file, where } },
    );
  if (isAbsolute(file) || climbsOut(home, asked)) throw outside();
  let real: string;
  try {
    real = await realpath(asked);
  } catch (cause) {
    throw datasetError(
      "DATASET_FILE_MISSING",
      `${where} is "${file}", which is not there`,
      "Check the path in manifest.json.",
      {
        fields: { file, where },
        cause,
      },
    );
  }
  if (climbsOut(home, real)) throw outside();
  return real;
}

type GivenSteps = v.InferOutput<typeof preprocessSchema>;
const defaults: GivenSteps = v.parse(preprocessSchema, {});

/** Fills in defaults. Throws DATASET_MANIFEST_INVALID when steps contradict each other. */
function complete(path: string, input: string, given: GivenSteps): Preprocess {
  const refuse = (key: string, what: string): InferOptError => invalid(path, `preprocess.${input}.${key}`, what);
  const count = given.channels === "gray" ? 1 : 3;
  for (const key of ["mean", "std"] as const) {
    const values = given[key];
    if (values && given.dtype === "u8") throw refuse(key, "cannot go with dtype u8");
    if (values && values.length !== 1 && values.length !== count) {
      throw refuse(key, `has ${values.length} numbers for ${count} channels`);
    }
  }
  if (given.dtype === "u8" && given.scale !== undefined && given.scale !== 1)
    throw refuse("scale", "cannot go with dtype u8");
  return {
    ...given,
    resize: given.resize ? completeResize(given.resize, (what) => refuse("resize", what)) : null,
    crop: given.crop ?? null,
    scale: given.scale ?? (given.dtype === "u8" ? 1 : 1 / 255),
    mean: given.mean ?? [0],
    std: given.std ?? [1],
  };
}

function completeResize(
  given: v.InferOutput<typeof resizeSchema>,
  refuse: (what: string) => InferOptError,
): ResizeStep {
  const { size, shortSide, mode, fit, fill } = given;
  if (size && shortSide === undefined) return { size, mode, fit: fit ?? "stretch", fill: fill ?? 0 };
  if (size || shortSide === undefined) throw refuse("needs either size or shortSide");
  if (fit !== undefined || fill !== undefined) throw refuse("has fit or fill, which need size");
  return { shortSide, mode };
}

function parseManifest(path: string, text: string): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw invalid(path, "", `is no JSON: ${messageOf(cause)}`, cause);
  }
  const parsed = v.safeParse(manifestSchema, json);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const isMissing = issue.message.endsWith("received undefined");
  throw invalid(path, v.getDotPath(issue) ?? "", isMissing ? "is missing" : issue.message);
}

const invalid = (path: string, where: string, what: string, cause?: unknown): InferOptError =>
  datasetError(
    "DATASET_MANIFEST_INVALID",
    where ? `${path}: ${where}: ${what}` : `${path} ${what}`,
    "Correct that place; keys that are not known are refused.",
    { fields: { path, where }, ...(cause === undefined ? {} : { cause }) },
  );
