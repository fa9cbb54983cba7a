/** Outputs that came with samples, as those of a model: by the names written in them, else by their place. */
import type { Tensor } from "../ir/index.js";
import type { InputSpec, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";

type Ports = readonly Pick<InputSpec, "name">[];

/**
 * By name of the model's output; empty for a sample without any. Throws DATASET_REFERENCE_UNKNOWN for one that the model does
 * not have.
 */
export function referencesOf({ id, references = [] }: Sample, outputs: Ports): ReadonlyMap<string, Tensor> {
  const known = outputs.map(({ name }) => name);
  const distinct = new Set(references.map(({ name }) => name)).size === references.length;
  const isNamed = distinct && references.every(({ name }) => known.includes(name));
  return new Map(
    references.map(({ name, position, tensor }) => {
      const output = isNamed ? name : known[position];
      if (output !== undefined) return [output, tensor];
      throw datasetError(
        "DATASET_REFERENCE_UNKNOWN",
        `${id} holds output_${position}.pb, but the model has ${known.length === 1 ? "1 output" : `${known.length} outputs`}`,
        "The data belongs to another model, or one whose outputs were taken away: remove the file, or correct it.",
        { fields: { sample: id, position, outputs: known } },
      );
    }),
  );
}

/** Watches that every sample has the same reference outputs, all or none. */
export class ReferenceWatch {
  #first: { readonly sample: string; readonly names: readonly string[] } | null = null;

  constructor(private readonly outputs: Ports) {}

  /** Throws DATASET_REFERENCES_PARTIAL or DATASET_REFERENCE_UNKNOWN. */
  add(sample: Sample): void {
    const names = [...referencesOf(sample, this.outputs).keys()].sort();
    const first = (this.#first ??= { sample: sample.id, names });
    if (names.join("\n") === first.names.join("\n")) return;
    throw datasetError(
      "DATASET_REFERENCES_PARTIAL",
      `${first.sample} has reference outputs ${inWords(first.names)}, and ${sample.id} has ${inWords(names)}`,
      "Give every sample its output_*.pb, or remove them all: what only some samples have proves nothing of the others.",
      { fields: { sample: sample.id, outputs: names } },
    );
  }

  /** Of the model's outputs, those that every sample has a reference for. */
  get names(): readonly string[] {
    return this.#first?.names ?? [];
  }
}

const inWords = (names: readonly string[]): string =>
  names.length === 0 ? "none" : names.map((name) => `"${name}"`).join(", ");
