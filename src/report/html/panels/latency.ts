/** Latency before and after: how many runs took no longer than so long. */
import type { BenchFacts, LatencyDistribution, LatencyFacts, RunResult } from "../../../pipeline/result.js";
import { latencyBins, latencyRange } from "../../latency-histogram.js";
import { modelNames } from "../../model-names.js";
import { milliseconds, percent, plural } from "../../numbers.js";
import { share, ticksOf } from "../../range.js";
import { axesFor, BOTTOM, chart, LEFT, line, linear, lineKey, logarithmic, px, RIGHT, TOP } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { folded, number } from "../table.js";

export function latencyPanel({ latency, verdict, bench }: RunResult): Panel {
  const body = latency?.distribution?.at.length ? drawn(latency, latency.distribution, slosOf(verdict)) : [];
  return { id: "latency", title: "Latency", body: body.length > 0 && bench ? [...whose(bench), ...body] : body };
}

/** Of several models the first two are drawn. */
function whose({ models }: BenchFacts): Markup[] {
  const [before, after] = modelNames(models.map(({ model }) => model));
  const others = models.length > 2 ? `; ${plural(models.length - 2, "other")} in the table of Measurements only` : "";
  return [html`<p>Before is ${before!}, after is ${after!}${others}.</p>`];
}

const marked = [0.5, 0.95, 0.99] as const;

/** What is asked of a percentile. */
interface Slo {
  readonly title: string;
  readonly ms: number;
}

const slosOf = ({ reasons }: RunResult["verdict"]): Slo[] =>
  reasons.flatMap(({ limit, wanted }) => {
    const percentile = /^slo (p[\d.]+)$/.exec(limit)?.[1];
    return percentile === undefined || !(wanted > 0)
      ? []
      : [{ title: `${percentile} at most ${milliseconds(wanted)} ms`, ms: wanted }];
  });

function drawn(latency: LatencyFacts, distribution: LatencyDistribution, slos: readonly Slo[]): Markup[] {
  const { at, baselineMs, candidateMs } = distribution;
  const axes = axesFor([...baselineMs, ...candidateMs, ...slos.map(({ ms }) => ms)], [0, 1], logarithmic);
  const { x, y } = axes;
  const curve = (className: string, values: readonly number[]): Markup =>
    line(
      className,
      values.map((value, i) => [x(value), y(at[i]!)] as const),
    );
  const known = ({ p50Ms, p95Ms, p99Ms }: LatencyFacts["baseline"]): (number | null)[] => [p50Ms, p95Ms, p99Ms];
  const marks = [known(latency.baseline), known(latency.candidate)].flatMap((values, i) =>
    values.map((value, p) =>
      value === null
        ? null
        : html`<circle class="dot ${i === 0 ? "base" : "taken"}" cx="${px(x(value))}" cy="${px(y(marked[p]!))}" r="4"><title>${`p${100 * marked[p]!} ${i === 0 ? "before" : "after"}: ${milliseconds(value)} ms`}</title></circle>`,
    ),
  );
  const lines = slos.map(
    ({ title, ms }) =>
      html`<line class="limit" x1="${px(x(ms))}" x2="${px(x(ms))}" y1="${TOP}" y2="${BOTTOM}"><title>${title}</title></line>`,
  );
  const description = `Share of ${plural(latency.runs, "run")} that took no longer: the median is ${milliseconds(latency.baseline.p50Ms)} ms before and ${milliseconds(latency.candidate.p50Ms)} ms after.`;
  const rows = at.map((share, i) => ({ share, before: baselineMs[i]!, after: candidateMs[i]! }));
  return [
    html`<p class="key">${lineKey("before", "before")}${lineKey("after", "after")}<span>dots: p50, p95, p99</span>${slos.map(({ title }) => lineKey("limit", title))}</p>`,
    chart(
      description,
      axes,
      ["ms (logarithmic)", "share of runs"],
      [
        ...lines,
        curve("before", baselineMs),
        curve("after", candidateMs),
        ...marks.flatMap((mark) => (mark ? [mark] : [])),
      ],
    ),
    folded("As a table", "Quantiles of latency, ms", rows, [
      number(
        "quantile",
        (row) => row.share,
        (share) => `${Number((share * 100).toPrecision(6))} %`,
      ),
      number("before", (row) => row.before, milliseconds),
      number("after", (row) => row.after, milliseconds),
    ]),
    ...histogram(latency, distribution),
  ];
}

const BINS = 60;
const TICKS = 7;

function histogram(latency: LatencyFacts, distribution: LatencyDistribution): Markup[] {
  const range = latencyRange(distribution);
  const bins = latencyBins(latency, range, BINS);
  const most = Math.max(...bins.flatMap(({ before, after }) => [before, after]));
  if (!(most > 0)) return [];
  const along = (part: number): number => LEFT + part * (RIGHT - LEFT);
  const x = Object.assign((ms: number): number => along(share(ms, range)), { ticks: ticksOf(range, TICKS) });
  const y = linear(0, 100 * most, BOTTOM, TOP);
  const outline = (side: "before" | "after"): Markup =>
    line(
      side,
      bins.flatMap((bin, i) => [along(i / BINS), along((i + 1) / BINS)].map((at) => [at, y(100 * bin[side])] as const)),
    );
  const { bend } = range;
  const title = range.isLogarithmic
    ? "ms (logarithmic)"
    : bend
      ? `ms (logarithmic from ${milliseconds(bend.at)} on)`
      : "ms";
  const peak = (side: "before" | "after"): string => {
    const { fromMs, toMs } = bins.reduce((high, bin) => (bin[side] > high[side] ? bin : high));
    return `${milliseconds(fromMs)} to ${milliseconds(toMs)} ms`;
  };
  const description = `How many of ${plural(latency.runs, "run")} took so long: most often ${peak("before")} before, ${peak("after")} after.`;
  const mark = bend
    ? [html`<line class="grid" x1="${px(x(bend.at))}" x2="${px(x(bend.at))}" y1="${TOP}" y2="${BOTTOM}"/>`]
    : [];
  const shownShare = (part: number): string => percent(part, 2);
  return [
    chart(description, { x, y }, [title, "% of runs"], [...mark, outline("before"), outline("after")]),
    folded(
      "Histogram as a table",
      "Share of runs by latency",
      bins.filter(({ before, after }) => before > 0 || after > 0),
      [
        number("from ms", ({ fromMs }) => fromMs, milliseconds),
        number("to ms", ({ toMs }) => toMs, milliseconds),
        number("before", ({ before }) => before, shownShare),
        number("after", ({ after }) => after, shownShare),
      ],
    ),
  ];
}
