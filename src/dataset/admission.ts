/**
 * Whether a dataset may be used with a model, said before hours are spent on it. One pass
 * over the data gives the findings, the samples' hashes and the digest; nothing but hashes is kept.
 *
 * Refused: nothing there, an input missing or unknown, dtype or shape that does not fit,
 * NaN or infinity. Told: conversions, constant inputs, blank and repeated samples, samples far beyond
 * the others, pixels that nobody scaled, labels missing here and there.
 */
import { likelyName, nearestName } from "../base/nearest.js";
import { isFloat, type Tensor } from "../ir/index.js";
import { type Adjustment, conformTensor, feedOf } from "./conform.js";
import { DigestBuilder, hashFeeds } from "./content-hash.js";
import type { Dataset, InputSpec, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import { InputWatch } from "./input-watch.js";
import { ReferenceWatch } from "./references.js";
import type { SampleStore } from "./sample-store.js";

export interface Finding {
  readonly code: `DATASET_${string}`;
  readonly severity: "warning" | "note";
  readonly message: string;
  /** What to do about it; null when nothing needs doing. */
  readonly hint: string | null;
  /** The input it is about, null when it is about samples. */
  readonly input: string | null;
  /** How many samples it concerns. */
  readonly samples: number;
}

export interface Admission {
  /** Samples looked at. */
  readonly samples: number;
  /** Of them, those with labels. */
  readonly labelled: number;
  /** SHA-256 in hex over them, as `datasetDigest` gives it. */
  readonly digest: string;
  /** Content hash of each sample's inputs as the model is fed them, in order. */
  readonly hashes: readonly string[];
  readonly findings: readonly Finding[];
  /** Outputs that every sample has a reference for; empty where nobody asked for them. */
  readonly references: readonly string[];
}

export interface AdmitOptions {
  /** Look at the first so many only. */
  readonly maxSamples?: number;
  /** The model's outputs, for data that comes with its own. */
  readonly outputs?: readonly InputSpec[];
  /** Where the samples go that were read, for those who read them next. */
  readonly store?: SampleStore;
}

/**
 * Throws DATASET_EMPTY, DATASET_INPUT_MISSING, DATASET_INPUT_UNKNOWN, DATASET_INPUT_KIND, DATASET_DTYPE,
 * DATASET_SHAPE, DATASET_NOT_FINITE or DATASET_REFERENCES_PARTIAL at the first sample that is unfit.
 */
export async function admit(
  dataset: Dataset,
  signature: readonly InputSpec[],
  { maxSamples = Number.POSITIVE_INFINITY, outputs, store }: AdmitOptions = {},
): Promise<Admission> {
  const inputs = signature.map((spec) => new InputRecord(spec));
  const references = outputs && new ReferenceWatch(outputs);
  const known = signature.map(({ name }) => name);
  const digest = new DigestBuilder();
  const hashes: string[] = [];
  let unlabelled = 0;

  const some = maxSamples < dataset.count ? [...Array(maxSamples).keys()] : undefined;
  for await (const sample of dataset.samples(some)) {
    refuseUnknown(sample, known, dataset.path);
    references?.add(sample);
    store?.add(sample);
    const fed = new Map(inputs.map((input) => [input.name, input.add(sample)]));
    const hash = hashFeeds(sample.feeds);
    // The model sees what was made of the arrays: the same sample in another type is the same.
    const isAsGiven = [...fed].every(([name, tensor]) => sample.feeds.get(name) === tensor);
    hashes.push(isAsGiven && fed.size === sample.feeds.size ? hash : hashFeeds(fed));
    digest.add(hash, sample.labels);
    if (!sample.labels) unlabelled++;
  }
  if (hashes.length === 0) {
    throw datasetError("DATASET_EMPTY", `${dataset.path} holds no samples`, "Give at least one sample.", {
      fields: { path: dataset.path },
    });
  }
  const findings = [
    ...inputs.flatMap((input) => input.findings()),
    ...repetitions(hashes),
    ...(dataset.hasLabels && unlabelled > 0 ? [missingLabels(unlabelled, hashes.length)] : []),
  ];
  return {
    ...{ samples: hashes.length, labelled: hashes.length - unlabelled, digest: digest.hex(), hashes, findings },
    references: references?.names ?? [],
  };
}

/** Kinds of data in which labels stand beside the inputs, under a name that nothing else has. */
const HOLDS_LABELS = /\.(npz|jsonl)$/i;

function refuseUnknown(sample: Sample, known: readonly string[], path: string): void {
  for (const name of sample.feeds.keys()) {
    if (known.includes(name)) continue;
    const mayHold = HOLDS_LABELS.test(path) && sample.labels === null && !known.includes("labels");
    const isMeant = mayHold && likelyName(name, [...known, "labels"]) === "labels";
    const nearest = isMeant ? "labels" : nearestName(name, known);
    throw datasetError(
      "DATASET_INPUT_UNKNOWN",
      `${sample.id} holds "${name}", which is no input of the model`,
      nearest === null
        ? "The model takes no inputs."
        : isMeant
          ? 'Rename or remove it; what goes to the metric is called "labels" here.'
          : `Rename or remove it; the model's nearest input is "${nearest}".`,
      { fields: { sample: sample.id, name, nearest, inputs: known } },
    );
  }
}

/** What is learned about one input over all samples. */
class InputRecord {
  private readonly watch = new InputWatch();
  private readonly conversions = new Map<string, number>();
  private readonly batches = new Map<"added" | "dropped", number>();
  private farthest = { id: "", reached: 0 };

  constructor(private readonly spec: InputSpec) {}

  get name(): string {
    return this.spec.name;
  }

  /** What the model is fed of this input. */
  add(sample: Sample): Tensor {
    const { name } = this.spec;
    const raw = feedOf(sample, name);
    const { tensor, ...adjustment } = conformTensor(raw, this.spec, sample.id);
    this.count(adjustment);
    const at = this.watch.add(tensor);
    const reached = this.watch.lastReached;
    if (reached > this.farthest.reached) this.farthest = { id: sample.id, reached };
    if (at < 0) return tensor;
    throw datasetError(
      "DATASET_NOT_FINITE",
      `${sample.id}: input "${name}" holds NaN or infinity (element ${at})`,
      adjustment.converted
        ? `The values may be beyond the range of ${adjustment.converted.to}: scale them, or repair the sample.`
        : "Repair or remove the sample: one such value spoils every range computed from the set.",
      { fields: { sample: sample.id, input: name, element: at } },
    );
  }

  findings(): Finding[] {
    const { name, dtype } = this.spec;
    const { samples, constant, blank, wild, looksLikePixels } = this.watch;
    const found: Finding[] = [];
    const add = (
      code: Finding["code"],
      severity: Finding["severity"],
      what: string,
      count: number,
      hint: string | null,
    ) => found.push({ code, severity, message: `input "${name}" ${what}`, hint, input: name, samples: count });

    for (const [types, count] of this.conversions)
      add("DATASET_CONVERTED", "note", `is converted from ${types}`, count, null);
    for (const [change, count] of this.batches) {
      add("DATASET_BATCH_AXIS", "note", `has its batch axis of 1 ${change}`, count, null);
    }
    if (constant) {
      // Masks and type ids are often all ones or zeros for good reason.
      const severity = isFloat(dtype) ? "warning" : "note";
      add(
        "DATASET_CONSTANT",
        severity,
        "has the same value everywhere",
        samples,
        "Check that it was really filled in.",
      );
    } else if (blank > 0 && isFloat(dtype)) {
      const what = `is blank (one value throughout) in ${blank} of ${samples} samples`;
      add("DATASET_BLANK", "warning", what, blank, "Remove samples that show nothing.");
    }
    if (wild > 0) {
      const { id, reached } = this.farthest;
      const where = wild === 1 ? id : `${id}, and far in ${wild - 1} others of ${samples}`;
      add(
        "DATASET_WILD",
        "warning",
        `reaches ${Number(reached.toPrecision(3))} in ${where}, over a million times what is usual`,
        wild,
        "Repair or remove it: one such value spoils every range computed from the set.",
      );
    }
    if (looksLikePixels && !constant) {
      add(
        "DATASET_PIXELS",
        "warning",
        "looks like unnormalized pixels: whole numbers of 0..255",
        samples,
        "Apply the scaling and normalization that the model was trained with, unless the model does it itself.",
      );
    }
    return found;
  }

  private count({ converted, batch }: Adjustment): void {
    if (converted) {
      const types = `${converted.from} to ${converted.to}`;
      this.conversions.set(types, (this.conversions.get(types) ?? 0) + 1);
    }
    if (batch) this.batches.set(batch, (this.batches.get(batch) ?? 0) + 1);
  }
}

function repetitions(hashes: readonly string[]): Finding[] {
  const repeated = hashes.length - new Set(hashes).size;
  if (repeated === 0) return [];
  const all = repeated === hashes.length - 1;
  return [
    {
      code: all ? "DATASET_IDENTICAL" : "DATASET_DUPLICATES",
      severity: "warning",
      message: all
        ? `all ${hashes.length} samples are the same`
        : `${repeated} of ${hashes.length} samples repeat an earlier one`,
      hint: "Repeated samples add time but no information: give different ones.",
      input: null,
      samples: repeated,
    },
  ];
}

const missingLabels = (count: number, total: number): Finding => ({
  code: "DATASET_LABELS_MISSING",
  severity: "warning",
  message: `${count} of ${total} samples have no labels`,
  hint: "A metric that needs labels fails on them: label all samples or none.",
  input: null,
  samples: count,
});
