/** Latency before and after, for a terminal. */
import type { LatencyDistribution, LatencyFacts, RunResult } from "../pipeline/result.js";
import { count, interval, milliseconds, percentileCells, percentileHeads, ratio } from "./numbers.js";
import { isRoomy, type Sheet } from "./sheet.js";
import { columns } from "./table.js";

const TITLE = 14;

export function latencyLines({ latency }: RunResult, sheet: Sheet): string[] {
  if (!latency) return [];
  const { distribution } = latency;
  const more = isRoomy(sheet) && distribution ? [0, 0.25, 0.75] : [];
  const row = (title: string, side: "baseline" | "candidate"): string[] => {
    const [p50, ...tail] = percentileCells(latency[side]);
    const [least, p25, p75] = more.map((share) => milliseconds(quantile(distribution!, side, share)));
    const cells = more.length > 0 ? [least!, p25!, p50!, p75!] : [p50!];
    return [title, ...cells, ...tail, count(latency.runs)];
  };
  const [p50, ...tail] = percentileHeads;
  const names = more.length > 0 ? ["least", "p25", p50!, "p75"] : [p50!];
  const heads = ["latency ms".padEnd(TITLE), ...names, ...tail, "runs"];
  const table = columns(
    [heads, row("before", "baseline"), row("after", "candidate")],
    ["left", ...heads.slice(1).map(() => "right" as const)],
  );
  return [...table, `${"speed".padEnd(TITLE)}  ${speedText(latency)}`];
}

const speedText = ({ speedup, speedupInterval }: LatencyFacts): string =>
  `${ratio(speedup)} as fast, interval ${interval(speedupInterval, ratio)}`;

/** null where the distribution does not hold that share. */
function quantile(distribution: LatencyDistribution, side: "baseline" | "candidate", share: number): number | null {
  const times = side === "baseline" ? distribution.baselineMs : distribution.candidateMs;
  return times[distribution.at.findIndex((at) => Math.abs(at - share) < 1e-9)] ?? null;
}
