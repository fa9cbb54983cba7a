/** Files, and what has a name in this program: metrics and targets. Each parser throws FLAG_INVALID (or CONFIG_INVALID) with the name and the value. */
import { isAbsolute, join } from "node:path";
import { builtinMetrics, type MetricRef } from "../../metric/metric.js";
import { parseMetric } from "../../metric/parse-metric.js";
import { findTarget, targetSpellings, targetsInWords } from "../../target/find-target.js";
import { formed, invalid, type Parse } from "./parse.js";
import { parseText } from "./plain.js";

/** From the folder of the config file, where one names it. */
export const parsePath: Parse<string> = formed(parseText.form!, (text, source) => {
  const path = parseText(text, source);
  return isAbsolute(path) ? path : join(source.folder, path);
});

export const parseMetricName: Parse<MetricRef> = formed(
  { text: { pattern: String.raw`^(${builtinMetrics.join("|")})$|[/\\]|\.[cm]?js$` } },
  (text, source) => parseMetric(text, source.folder),
);

const reportFormats = ["html", "md", "json", "xml"] as const;
export interface ReportFile {
  readonly path: string;
  readonly format: (typeof reportFormats)[number];
}

export const parseReport: Parse<ReportFile> = formed(
  { text: { pattern: String.raw`\.([hH][tT][mM][lL]|[mM][dD]|[jJ][sS][oO][nN]|[xX][mM][lL])$` } },
  (text, source) => {
    const path = parsePath(text, source);
    const ending = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
    const format = reportFormats.find((known) => known === ending);
    if (format) return { path, format };
    const hint = "End the name in .html (a page), .md (Markdown), .json (the result) or .xml (JUnit).";
    throw invalid(text, source, "has no ending that names a format", hint);
  },
);

export const parseTarget: Parse<string> = formed({ text: { enum: targetSpellings } }, (text, source) => {
  if (findTarget(text)) return text;
  throw invalid(text, source, "is no target", `Targets are ${targetsInWords()}.`);
});
