/** A result for other programs, by the flag that asks for it: what each file is called and what stands in it. */
import { InferOptError } from "../base/errors.js";
import type { RunResult } from "../pipeline/result.js";
import { renderBenchmarkJson } from "./benchmark-json.js";
import { renderResultTrace } from "./chrome-trace.js";
import { renderLayersCsv } from "./csv.js";
import { renderMetrics } from "./metrics.js";
import { nodeDataFiles } from "./node-data.js";

export type ExportFormat = "csv" | "metrics" | "benchmarkJson" | "resultTrace" | "nodeData";

export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

/** One file, or for node data one for each measure. Throws RESULT_NO_NODES where the result knows of no node. */
export function exportResult(result: RunResult, format: ExportFormat, path: string): ExportedFile[] {
  switch (format) {
    case "csv":
      return [{ path, text: renderLayersCsv(result) }];
    case "metrics":
      return [{ path, text: renderMetrics(result) }];
    case "benchmarkJson":
      return [{ path, text: renderBenchmarkJson(result) }];
    case "resultTrace":
      return [{ path, text: renderResultTrace(result) }];
    case "nodeData":
      return nodeData(result, path);
  }
}

function nodeData(result: RunResult, path: string): ExportedFile[] {
  const files = nodeDataFiles(result);
  if (files.length === 0) {
    throw new InferOptError("RESULT_NO_NODES", "input", "the result says nothing of the nodes of its models", {
      hint: "Make one with --report FILE.json: quantize, optimize and profile measure nodes, fuse tells what became of them.",
    });
  }
  const stem = path.replace(/\.json$/i, "");
  return files.map(({ measure, text }) => ({ path: `${stem}.${measure}.json`, text }));
}
