/** How long runs took before and after: where most of them lie, and how long the tail is. */
import type { LatencyDistribution, LatencyFacts, Percentiles, RunResult } from "../../pipeline/result.js";
import { latencyBins, latencyRange } from "../../report/latency-histogram.js";
import { count, interval, percentileCells, percentileHeads, ratio, significant } from "../../report/numbers.js";
import { type Range, share } from "../../report/range.js";
import { tickText } from "../../report/ticks.js";
import { padRight } from "../cells.js";
import { bars, plot, xLabels } from "../plot.js";
import type { Scene, TextScreen } from "../screen.js";
import { grid, paragraph } from "./rows.js";

const charts = ["both", "histogram", "curve"] as const;

export const latency: TextScreen = {
  kind: "text",
  name: "latency",
  title: "Latency",
  about:
    "Above, how many runs took so long; below, the share of runs that took no longer. Percentiles are marked on both. Curves that cross: faster in the middle, slower in the tail.",
  keys: ({ result }, { chart }) => (result.latency?.distribution ? [["v", `view: ${chart}`]] : []),
  press: (key, _, state) =>
    key === "v" ? { state: { ...state, chart: charts[(charts.indexOf(state.chart) + 1) % charts.length]! } } : null,
  text: (scene) => {
    const { result } = scene.book;
    const { latency: facts } = result;
    if (!facts) return [...otherTimes(result, scene.width), ...paragraph(none(result), scene.width)];
    const { distribution } = facts;
    const figures = table(facts, scene.width);
    if (!distribution) {
      return [
        ...figures,
        "",
        ...paragraph(
          "The result holds percentiles only: it was written by an earlier version, and single times are not in it.",
          scene.width,
        ),
      ];
    }
    return [...figures, "", ...drawn(scene, facts, distribution, scene.height - figures.length - 1)];
  },
};

const none = ({ command }: RunResult): string =>
  `\`${command}\` timed no model against another. \`infer-opt bench BEFORE AFTER --report result.json\` does, and so do \`gate\`, and \`quantize\` and \`optimize\` of what they write.`;

/** Of `bench` with one model: percentiles are all there is. */
function otherTimes({ bench }: RunResult, width: number): string[] {
  if (!bench) return [];
  const rows = bench.models.map((row) => ["", ...percentileCells(row), ""]);
  return [...grid([["ms", ...percentileHeads, ""], ...rows], width), ""];
}

function table({ baseline, candidate, runs, speedup, speedupInterval }: LatencyFacts, width: number): string[] {
  const row = (title: string, times: Percentiles): string[] => [title, ...percentileCells(times), count(runs), ""];
  return [
    ...grid([["ms", ...percentileHeads, "runs", ""], row("before", baseline), row("after", candidate)], width),
    ...paragraph(`${ratio(speedup)} as fast, interval ${interval(speedupInterval, ratio)}`, width),
  ];
}

/** Larger drawings tell no more. */
const WIDEST_CHART = 140;
const TALLEST_CHART = 20;

function drawn(scene: Scene, facts: LatencyFacts, distribution: LatencyDistribution, height: number): string[] {
  const { look, state } = scene;
  const width = Math.min(scene.width, WIDEST_CHART);
  const { at, baselineMs, candidateMs } = distribution;
  const x = latencyRange(distribution);
  const has = { histogram: state.chart !== "curve", curve: state.chart !== "histogram" };
  // Each needs some height to tell anything: where there is not enough for two, the rest is scrolled to.
  const each = Math.min(
    TALLEST_CHART,
    Math.max(7, has.histogram && has.curve ? Math.floor((height - 1) / 2) : height - 1),
  );
  const columns = Math.max(8, width - 9);
  const bins = latencyBins(facts, x, columns);
  const sets = [
    {
      title: "before",
      values: baselineMs,
      bins: bins.map(({ before }) => before),
      marks: facts.baseline,
      paint: look.before,
    },
    {
      title: "after",
      values: candidateMs,
      bins: bins.map(({ after }) => after),
      marks: facts.candidate,
      paint: look.after,
    },
  ];
  const most = Math.max(...sets.flatMap((set) => set.bins), Number.MIN_VALUE);
  const barRows = Math.max(1, Math.floor((each - 5) / 2));
  const histogram = sets.flatMap(({ title, bins: parts, marks, paint }) => {
    const lines = bars(
      parts.map((part) => part / most),
      barRows,
      look,
    );
    return [
      ...lines.map((line, row) => `${padRight(row === barRows - 1 ? title : "", 8)} ${paint(line)}`),
      `${" ".repeat(9)}${look.faint(markLine(marks, x, columns))}`,
    ];
  });
  const axis = plot({
    ...{ width, height: each, x, y: { low: 0, high: 1 }, look },
    xTitle: "ms",
    showY: (part) => `${Math.round(100 * part)} %`,
    series: sets.map(({ values, paint, title }, i) => ({
      points: values.map((value, q) => [value, at[q]!] as const),
      kind: i === 0 ? ("dashed" as const) : ("curve" as const),
      mark: title === "before" ? "." : "#",
      paint,
    })),
  });
  const key = look.isUnicode
    ? `${look.before("┄┄")} before  ${look.after("──")} after`
    : `${look.before("..")} before  ${look.after("##")} after`;
  const scale = `${" ".repeat(9)}${look.faint(xLabels(x, columns, "ms"))}`;
  return [
    ...(has.histogram ? [`${look.faint("runs, from")} ${tidyRange(x)}`, ...histogram, scale] : []),
    ...(has.histogram && has.curve ? [""] : []),
    ...(has.curve ? [`${look.faint("share of runs that took no longer:")} ${key}`, ...axis] : []),
  ];
}

const tidyRange = ({ low, high, isLogarithmic, bend }: Range): string =>
  `${tickText(Number(low.toPrecision(3)))} to ${tickText(Number(high.toPrecision(3)))} ms${isLogarithmic ? ", logarithmic" : bend ? `, logarithmic from ${significant(bend.at)}` : ""}`;

/** Where p50, p95 and p99 lie below bars that are `columns` wide. */
function markLine({ p50Ms, p95Ms, p99Ms }: Percentiles, range: Range, columns: number): string {
  let line = "";
  const marks = [
    ["p50", p50Ms],
    ["p95", p95Ms],
    ["p99", p99Ms],
  ] as const;
  for (const [name, value] of marks) {
    const at = value === null ? -1 : Math.floor(share(value, range) * columns);
    if (at < line.length || at >= columns) continue;
    // The mark stands in the column of its value; the name beside it where it has room.
    const label = `^${name}`;
    line = line.padEnd(at) + (at + label.length <= columns ? label : "^");
  }
  return line;
}
