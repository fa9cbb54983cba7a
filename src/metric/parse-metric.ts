/** `--metric` as text to a reference. */
import { isAbsolute, resolve } from "node:path";
import { InferOptError } from "../base/errors.js";
import { type BuiltinMetric, builtinMetrics, type MetricRef } from "./metric.js";

const isBuiltin = (text: string): text is BuiltinMetric => (builtinMetrics as readonly string[]).includes(text);

/**
 * A built-in name, or a path: something with a separator or a script's extension, taken
 * from `folder`. Throws METRIC_UNKNOWN for any other word; whether a file is there shows when it is loaded.
 */
export function parseMetric(text: string, folder = "."): MetricRef {
  if (isBuiltin(text)) return { kind: "builtin", name: text };
  if (isAbsolute(text) || /[/\\]/.test(text) || /\.[cm]?js$/.test(text)) {
    return { kind: "module", path: resolve(folder, text) };
  }
  throw new InferOptError("METRIC_UNKNOWN", "usage", `"${text}" is no metric`, {
    hint: `Use one of ${builtinMetrics.join(", ")}, or the path of a module such as ./metric.mjs.`,
    fields: { metric: text },
  });
}
