/**
 * Outputs read as scores of classes. The class axis is the last one longer than 1, so
 * that [1, 1000] and [1, 1000, 1, 1] mean the same; each index before it is a position
 * with a class of its own ([1, tokens, classes]).
 */
import { InferOptError } from "../base/errors.js";
import type { NamedTensors } from "./metric.js";
import type { MetricTensor } from "./metric-tensor.js";

const floatTypes: ReadonlySet<string> = new Set(["float32", "float64", "float16", "bfloat16"]);

/** Numbers of any real floating type. */
export interface FloatTensor extends MetricTensor {
  readonly data: Float32Array | Float64Array;
}

export const isFloatTensor = (tensor: MetricTensor): tensor is FloatTensor => floatTypes.has(tensor.type);

export interface ClassScores {
  readonly output: string;
  readonly positions: number;
  readonly classes: number;
  /** [positions, classes] */
  readonly data: Float32Array | Float64Array;
}

/** The first float output with a class axis, null when there is none. */
export function findClassScores(outputs: NamedTensors): ClassScores | null {
  for (const [output, tensor] of Object.entries(outputs)) {
    if (!isFloatTensor(tensor)) continue;
    const classes = tensor.dims.findLast((dim) => dim > 1);
    if (classes !== undefined && tensor.data.length > 0) {
      return { output, positions: tensor.data.length / classes, classes, data: tensor.data };
    }
  }
  return null;
}

/** As findClassScores; throws METRIC_NO_CLASSES when there is none. */
export function classScores(metric: string, outputs: NamedTensors): ClassScores {
  const scores = findClassScores(outputs);
  if (!scores) throw noClasses(metric, outputs);
  return scores;
}

export function noClasses(metric: string, outputs: NamedTensors): InferOptError {
  const shapes = Object.entries(outputs).map(([name, { type, dims }]) => `${name}: ${type}[${dims.join(",")}]`);
  return new InferOptError("METRIC_NO_CLASSES", "input", `${metric} found no class scores among ${shapes.join(", ")}`, {
    hint: "Use cosine, sqnr or mse, or a metric module.",
    fields: { metric },
  });
}

/** How many classes beat class `label` at a position; an equal one before it does. Infinity when its score is NaN. */
export function rankOf(scores: ClassScores, position: number, label: number): number {
  const { data, classes } = scores;
  const start = position * classes;
  const own = data[start + label]!;
  if (Number.isNaN(own)) return Number.POSITIVE_INFINITY;
  let rank = 0;
  for (let c = 0; c < classes; c++) {
    const other = data[start + c]!;
    if (other > own || (other === own && c < label)) rank++;
  }
  return rank;
}

/** The class with the highest score, the first of equals; -1 when all are NaN. */
export function bestClass(scores: ClassScores, position: number): number {
  const { data, classes } = scores;
  const start = position * classes;
  let best = -1;
  for (let c = 0; c < classes; c++) {
    const score = data[start + c]!;
    if (best < 0 ? !Number.isNaN(score) : score > data[start + best]!) best = c;
  }
  return best;
}
