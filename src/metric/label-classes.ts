/** Labels as class numbers, whatever they were written as. */
import { InferOptError } from "../base/errors.js";
import type { MetricLabels } from "./metric.js";

/**
 * One class number for each position. Takes a tensor, a number, or (nested) arrays of numbers.
 * Throws METRIC_LABELS_MISSING, METRIC_LABELS_SHAPE or METRIC_LABEL_RANGE.
 */
export function labelClasses(
  metric: string,
  sample: string,
  labels: MetricLabels,
  positions: number,
  classes: number,
): number[] {
  if (labels === null || labels === undefined) {
    throw labelsMissing(metric, { sample });
  }
  const found: unknown[] = [];
  flatten(labels, found);
  if (found.length !== positions) {
    throw new InferOptError(
      "METRIC_LABELS_SHAPE",
      "input",
      `${metric} needs ${positions} class number(s) for sample ${sample}, and its labels have ${found.length}`,
      {
        hint: "Labels are class numbers, one for each position of the output, not one-hot rows. --metric agreement takes none.",
        fields: { metric, sample, wanted: positions, got: found.length },
      },
    );
  }
  return found.map((label) => {
    const number = typeof label === "bigint" ? Number(label) : label;
    if (typeof number === "number" && Number.isInteger(number) && number >= 0 && number < classes) return number;
    throw new InferOptError(
      "METRIC_LABEL_RANGE",
      "input",
      `label ${String(label)} of sample ${sample} is no class number from 0 to ${classes - 1}`,
      {
        hint: `The model's output has ${classes} classes; check how the labels were numbered.`,
        fields: { metric, sample, label: String(label), classes },
      },
    );
  });
}

/** @param fields what has none: a sample, or all the data */
export const labelsMissing = (
  metric: string,
  fields: { readonly sample: string } | { readonly data: string },
): InferOptError =>
  new InferOptError(
    "METRIC_LABELS_MISSING",
    "input",
    `${metric} needs labels, and ${"sample" in fields ? `sample ${fields.sample}` : fields.data} has none`,
    {
      hint: "Add labels to the data (in a .npz: an array named labels), or use the metric agreement.",
      fields: { metric, ...fields },
    },
  );

function flatten(labels: unknown, into: unknown[]): void {
  if (Array.isArray(labels)) for (const each of labels) flatten(each, into);
  // One by one: a mask has a label for each pixel, more than a call takes arguments.
  else if (ArrayBuffer.isView(labels)) for (const each of labels as unknown as Iterable<unknown>) into.push(each);
  else if (typeof labels === "object" && labels !== null && "data" in labels) flatten(labels.data, into);
  else into.push(labels);
}
