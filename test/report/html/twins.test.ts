/** Every plot has a table with the same numbers: what is drawn is read back from the drawing by its axes. */
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../../src/pipeline/result.js";
import { renderHtml } from "../../../src/report/html/page.js";
import { sampleResult } from "../sample-result.js";

const at = [0, 0.25, 0.5, 0.95, 0.99, 1];
const baselineMs = [20, 22.5, 24.31, 25.9, 27.4, 30];
const candidateMs = [10, 10.8, 11.36, 11.92, 13, 14];
const percentiles = { p50Ms: 1, p90Ms: 2, p95Ms: 3, p99Ms: 4, p999Ms: null };
const tried = [50, 100, 200].map((perSecond, i) => ({
  perSecond,
  status: (["met", "inconclusive", "missed"] as const)[i]!,
  latency: { ...percentiles, p50Ms: 1 + i, p95Ms: 3 + 4 * i },
}));

const result = (): RunResult => {
  const { latency, verdict, candidates, model } = sampleResult();
  const slo = { limit: "slo p95", wanted: 20, got: 11.92, status: "met", text: "", unit: "ms" } as const;
  return sampleResult({
    latency: { ...latency!, distribution: { at, baselineMs, candidateMs } },
    verdict: { ...verdict, reasons: [...verdict.reasons, slo] },
    candidates: candidates.map((each, i) => ({ ...each, sqnrDb: [31.2, 55][i]! })),
    load: {
      ...{
        provider: "cpu",
        threads: 1,
        batch: 1,
        data: "x",
        rate: 100,
        processes: 1,
        durationMs: 1,
        arrivals: "poisson",
      },
      models: [
        {
          ...{ model, requests: 1, utilization: 0.5, latency: percentiles, waiting: percentiles, service: percentiles },
          ...{ offeredPerSecond: 1, servedPerSecond: 1, meanWaitingMs: 1, peakRssBytes: 1 },
          bounds: { p50: none, p90: none, p95: none, p99: none, p999: none },
          maxRate: { perSecond: 50, failedPerSecond: 200, tried },
        },
      ],
    } as unknown as NonNullable<RunResult["load"]>,
  });
};
const none = { low: null, high: null };
const page = renderHtml(result());

const panel = (id: string): string => new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(page)![0];
const chartOf = (html: string): string => /<svg viewBox="0 0 640[\s\S]*?<\/svg>/.exec(html)![0];

/** From pixels to values, by two ticks of the axis. */
function reader(svg: string, axis: "x" | "y", isLogarithmic = false): (pixels: number) => number {
  const pattern =
    axis === "x"
      ? /<text class="tick" x="([\d.]+)" y="[\d.]+" text-anchor="middle">([\d.,]+)</g
      : /<text class="tick" x="[\d.]+" y="([\d.]+)" text-anchor="end">([\d.,]+)</g;
  const ticks = [...svg.matchAll(pattern)].map(
    ([, where, value]) => [Number(where) - (axis === "y" ? 4 : 0), Number(value!.replace(",", ""))] as const,
  );
  const [first, last] = [ticks[0]!, ticks.at(-1)!];
  const bent = (value: number): number => (isLogarithmic ? Math.log(value) : value);
  return (pixels) => {
    const share = (pixels - first[0]) / (last[0] - first[0]);
    const value = bent(first[1]) + share * (bent(last[1]) - bent(first[1]));
    return isLogarithmic ? Math.exp(value) : value;
  };
}

const pointsOf = (svg: string, className: string): [number, number][] =>
  new RegExp(`<polyline class="${className}" points="([^"]+)"`)
    .exec(svg)![1]!
    .split(" ")
    .map((pair) => pair.split(",").map(Number) as [number, number]);

const dotsOf = (svg: string): [number, number][] =>
  [...svg.matchAll(/<circle class="[^"]*" cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);

/** Cells of the rows of a panel's last table but one, or of the one with this caption. */
const rowsOf = (html: string, caption: string): string[][] =>
  [...new RegExp(`<caption>${caption}[\\s\\S]*?</table>`).exec(html)![0].matchAll(/<tr>(<td[\s\S]*?)<\/tr>/g)].map(
    ([, row]) => [...row!.matchAll(/<td[^>]*>(?:<strong>)?([^<]*)/g)].map(([, text]) => text!.replace(",", "")),
  );

/** Half a pixel and three digits. */
const near = (got: number, wanted: number): void => expect(Math.abs(got / wanted - 1)).toBeLessThan(0.012);

describe("charts and their tables", () => {
  it("have the same quantiles of latency, and the marks stand where the curve has that share", () => {
    const svg = chartOf(panel("latency"));
    const [x, y] = [reader(svg, "x", true), reader(svg, "y")];
    const rows = rowsOf(panel("latency"), "Quantiles");
    for (const [column, className] of [
      [1, "before"],
      [2, "after"],
    ] as const) {
      const drawn = pointsOf(svg, className);
      expect(drawn).toHaveLength(rows.length);
      for (const [i, [left, top]] of drawn.entries()) {
        near(x(left), Number(rows[i]![column]));
        expect(y(top)).toBeCloseTo(Number.parseFloat(rows[i]![0]!) / 100, 2);
      }
    }
    const marks = dotsOf(svg);
    const shares = [0.5, 0.95, 0.99, 0.5, 0.95, 0.99];
    expect(marks).toHaveLength(6);
    for (const [i, [left, top]] of marks.entries()) {
      const values = i < 3 ? baselineMs : candidateMs;
      near(x(left), values[at.indexOf(shares[i]!)]!);
      expect(y(top)).toBeCloseTo(shares[i]!, 2);
    }
    const [line] = [...svg.matchAll(/<line class="limit" x1="([\d.]+)"/g)];
    near(x(Number(line![1])), 20);
  });

  it("have the same candidates, and shade what limits leave out", () => {
    const svg = chartOf(panel("candidates"));
    const [x, y] = [reader(svg, "x"), reader(svg, "y")];
    const rows = rowsOf(panel("candidates"), "2 candidates");
    for (const [i, [left, top]] of dotsOf(svg).entries()) {
      near(x(left), Number.parseFloat(rows[i]![1]!));
      near(y(top), Number(rows[i]![3]));
    }
    const [area] = [...svg.matchAll(/<g class="outside"><rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)];
    near(x(Number(area![1]) + Number(area![2])), 1.2);
  });

  it("have the same rates with their latencies", () => {
    const svg = chartOf(panel("measurements"));
    const [x, y] = [reader(svg, "x", true), reader(svg, "y", true)];
    const rows = rowsOf(panel("measurements"), "Rates tried");
    expect(dotsOf(svg)).toHaveLength(3);
    for (const [i, [left, top]] of dotsOf(svg).entries()) {
      near(x(left), Number(rows[i]![0]));
      near(y(top), Number(rows[i]![2]));
      near(y(pointsOf(svg, "front-line")[i]![1]), Number(rows[i]![1]));
    }
    const levels = [...svg.matchAll(/<line class="limit" x1="[\d.]+" x2="[\d.]+" y1="([\d.]+)"/g)];
    near(y(Number(levels[0]![1])), 20);
    const most = /<line class="most" x1="([\d.]+)"/.exec(svg)!;
    near(x(Number(most[1])), 50);
  });
});
