/** Metrics of which 1 %, the limit where nobody says another, is nothing that could be met: their limit has to be said. */
import { InferOptError } from "../../base/errors.js";
import type { MetricRef } from "../../metric/index.js";
import type { DataConfig, Limits } from "../config.js";

interface WithoutDefault {
  readonly name: string;
  readonly why: string;
  readonly hint: string;
}

/** Both are distances from the original's answers, which lie at the end of the scale. */
const withoutDefault: readonly WithoutDefault[] = [
  {
    name: "sqnr",
    why: "equal outputs have 100 dB, and 1 % less than that is 99 dB, which nothing that rounds has",
    hint: "Say how many of the 100 dB may be lost: --max-drop 75 asks for 25 dB, --max-drop none for nothing.",
  },
  {
    name: "mse",
    why: "equal outputs have 0, of which there is no percentage",
    hint: "Say how large it may be: --max-drop 0.001; or --max-drop none.",
  },
];

const unlimitedOf = (metric: MetricRef | null): WithoutDefault | undefined =>
  metric?.kind === "builtin" ? withoutDefault.find(({ name }) => name === metric.name) : undefined;

/** Throws LIMIT_MISSING where accuracy is going to be judged by a limit that nobody gave, and that has no default. */
export function requireLimit({ data, limits }: { readonly data: DataConfig; readonly limits: Limits }): void {
  const { metric, calibration, eval: evaluation } = data;
  const found = unlimitedOf(metric);
  // Made-up inputs judge nothing.
  if (!found || limits.maxDrop !== null || (calibration === null && evaluation === null)) return;
  const { name, why, hint } = found;
  throw new InferOptError("LIMIT_MISSING", "usage", `--metric ${name} needs a --max-drop: ${why}`, {
    hint,
    fields: { flag: "--max-drop", metric: name },
  });
}

/** For a command that may be asked for the number alone: the limits, with none on a metric that has no default. */
export const declaredLimits = (limits: Limits, metric: MetricRef): Limits =>
  limits.maxDrop === null && unlimitedOf(metric) ? { ...limits, maxDrop: "none" } : limits;
