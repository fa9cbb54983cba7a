/** Where and how it was measured, title by title. */
import type { ModelFacts, RunResult } from "../pipeline/result.js";
import { afterOf, beforeOf } from "../pipeline/sides.js";
import { conditionsText } from "./conditions.js";
import { bytes, duration, plural } from "./numbers.js";
import { stageText } from "./stage-text.js";

export type EnvironmentRow = readonly [title: string, text: string];

export function environmentRows(result: RunResult): readonly EnvironmentRow[] {
  const { environment, resources, tool, model, latency, conditions, stages, bench } = result;
  const { cpu, flags, cores, platform, node, onnxruntime } = environment;
  const [before, after] = [beforeOf(result), afterOf(result)];
  const row = (title: string, text: string | null): EnvironmentRow[] => (text === null ? [] : [[title, text]]);
  const where = latency && `${latency.provider}, ${plural(latency.threads, "thread")}, batch ${latency.batch}`;
  return [
    ["machine", `${cpu}, ${plural(cores, "core")}, ${platform}`],
    ["flags", flags.join(" ") || "unknown"],
    ["versions", `infer-opt ${tool.version}, Node ${node}, onnxruntime ${onnxruntime}`],
    ...row("timed on", where),
    ...row("conditions", conditions ? conditionsText(conditions) : null),
    ["this run", `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}`],
    ...row("stages", stages.length > 0 ? stageText(stages) : null),
    ...(bench
      ? bench.models.map((row): EnvironmentRow => ["model", fileText(row.model)])
      : row(after === null && before === model ? "model" : "before", fileText(before))),
    ...row("given", before === model ? null : fileText(model)),
    ...row("after", after && fileText(after)),
  ];
}

const fileText = ({ path, sha256 }: ModelFacts): string => `${path}, sha256 ${sha256}`;
