/** Every plot has a table with the same numbers: what is drawn is read back from the drawing by its axes. */
import { describe, expect, it } from "vitest";
import type { RunResult } from "../../../src/pipeline/result.js";
import { renderHtml } from "../../../src/report/html/page.js";
import { sampleResult } from "../sample-result.js";
import { everyPanel, MANY } from "./every-panel.js";

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
    const dots = dotsOf(svg);
    expect(dots).toHaveLength(2);
    for (const [i, [left, top]] of dots.entries()) {
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

/** Half a digit of what a table prints in three, and half a pixel of a tenth. */
const close = (got: number, wanted: number, pixel: number): void =>
  expect(Math.abs(got - wanted)).toBeLessThanOrEqual(0.006 * Math.abs(wanted) + pixel);

const every = renderHtml(everyPanel());
const everyPanelOf = (id: string): string => new RegExp(`<section id="${id}"[\\s\\S]*?</section>`).exec(every)![0];

/** All rows of a panel's table, those too that stand beside it for the script: as texts. */
function allRows(html: string, caption: string): string[][] {
  const table = new RegExp(`<caption>${caption}[\\s\\S]*?</table>([\\s\\S]*?)</div>`).exec(html)!;
  const rest = /<script type="application\/json" class="rest">(.*?)<\/script>/.exec(table[1]!);
  const others = rest ? (JSON.parse(rest[1]!) as (string | [string])[][]) : [];
  const texts = others.map((row) => row.map((cell) => (typeof cell === "string" ? cell : cell[0]).replaceAll(",", "")));
  return [...rowsOf(html, caption), ...texts];
}

/** Dots of a path of many, with the rows of the table that they stand for. */
const manyOf = (svg: string): { x: number; y: number; radius: number; row: number; kind: string }[] =>
  [...svg.matchAll(/<path class="([^"]*)" data-rows="([^"]*)" d="([^"]*)"/g)].flatMap(([, kind, rows, d]) =>
    [...d!.matchAll(/M([-\d.]+) ([-\d.]+)a([\d.]+)/g)].map(([, left, y, radius], i) => ({
      ...{ x: Number(left) + Number(radius), y: Number(y), radius: Number(radius) },
      ...{ row: Number(rows!.split(" ")[i]), kind: kind! },
    })),
  );

describe("charts of many dots and their tables", () => {
  it("have the same nodes under the roof, each with its row", () => {
    const svg = chartOf(everyPanelOf("roofline"));
    const [x, y] = [reader(svg, "x", true), reader(svg, "y", true)];
    const rows = allRows(everyPanelOf("roofline"), "Nodes with arithmetic");
    const dots = manyOf(svg);
    expect(dots).toHaveLength(MANY + 30);
    expect(new Set(dots.map(({ row }) => row)).size).toBe(dots.length);
    const longest = Number(rows[0]![5]);
    for (const dot of dots) {
      const [, , model, intensity, speed, ms] = rows[dot.row]!;
      close(x(dot.x), Number(intensity), 0.012 * Number(intensity));
      close(y(dot.y), Number(speed), 0.012 * Number(speed));
      expect(dot.kind).toBe(model === "before" ? "spot base" : "spot taken");
      close(dot.radius, 2.5 + 7 * Math.sqrt(Number(ms) / longest), 0.06);
    }
    // The roofs: the machine's peaks, and what its memory feeds left of the bends.
    const [float, integers] = ["roof", "roof integers"].map((name) => pointsOf(svg, name));
    near(y(float!.at(-1)![1]), 100);
    near(y(integers!.at(-1)![1]), 400);
    for (const [left, top] of [float![0]!, float![1]!]) near(y(top), x(left) * 20);
  });

  it("have the same errors along the depth, and the limit where it is", () => {
    const svg = chartOf(everyPanelOf("depth"));
    const [x, y] = [reader(svg, "x"), reader(svg, "y")];
    const rows = allRows(everyPanelOf("depth"), "Tensors in execution order");
    const dots = manyOf(svg);
    expect(dots).toHaveLength(MANY);
    for (const dot of dots) {
      close(x(dot.x), Number(rows[dot.row]![0]), 0.1);
      close(y(dot.y), Number(rows[dot.row]![4]), 0.05);
      expect(dot.kind).toBe(Number(rows[dot.row]![4]) < 20 ? "spot bad" : "spot taken");
    }
    const [, level] = /<line class="limit" [^>]*y1="([\d.]+)"/.exec(svg)!;
    close(y(Number(level)), 20, 0.05);
  });

  it("have the same settings of a sweep", () => {
    const panels = everyPanelOf("measurements");
    const svg = [...panels.matchAll(/<svg viewBox="0 0 640[\s\S]*?<\/svg>/g)]
      .map(([found]) => found)
      .find((each) => each.includes("Throughput"))!;
    const [x, y] = [reader(svg, "x"), reader(svg, "y")];
    const settings = everyPanel().sweep!.settings;
    const rows = allRows(panels, "Batch sizes and threads");
    expect(rows).toHaveLength(settings.length);
    expect(dotsOf(svg)).toHaveLength(settings.length);
    for (const [i, [left, top]] of dotsOf(svg).entries()) {
      close(x(left), settings[i]!.throughputPerSecond, 1);
      close(y(top), settings[i]!.p95Ms!, 0.05);
      expect(rows[i]!.map(Number)).toEqual(
        expect.arrayContaining([settings[i]!.p95Ms!, settings[i]!.throughputPerSecond]),
      );
    }
  });

  it("have the same bins and ranges of calibration", () => {
    const html = everyPanelOf("calibration");
    const [tensor] = everyPanel().calibration!.tensors;
    const { from, width, counts } = tensor!.histogram;
    const bins = rowsOf(html, "Elements by bin").map((row) => row.map(Number));
    expect(bins).toEqual(counts.map((many, i) => [from + i * width, many]));
    const svg = /<svg viewBox="0 0 300[\s\S]*?<\/svg>/.exec(html)![0];
    const [low, high] = [from, from + width * counts.length];
    const value = (pixels: number): number => low + ((pixels - 4) / 292) * (high - low);
    const [, bars] = /<path class="bars" d="([^"]*)"/.exec(svg)!;
    const drawn = [...bars!.matchAll(/M([\d.]+) [\d.]+v-([\d.]+)/g)].map(
      ([, x, tall]) => [Number(x), Number(tall)] as const,
    );
    for (const [i, [x, tall]] of drawn.entries()) {
      close(value(x), bins[i]![0]!, 0.01);
      // On a logarithmic scale on which nothing is no height.
      close(
        tall / Math.max(...drawn.map(([, each]) => each)),
        Math.log1p(bins[i]![1]!) / Math.log1p(Math.max(...counts)),
        0.01,
      );
    }
    const ranges = [...svg.matchAll(/<path class="(range[^"]*)" d="M([\d.]+) 10V[\d.]+M([\d.]+)/g)];
    expect(ranges.map(([, name]) => name)).toEqual(["range", "range taken"]);
    const [row] = allRows(html, "Tensors: ranges by method");
    for (const [, name, left, right] of ranges) {
      const [method, column] = name === "range taken" ? ["mse", 7] : ["minmax", 6];
      const range = tensor!.ranges.find((each) => each.method === method)!;
      close(value(Number(left)), range.low, 0.01);
      close(value(Number(right)), range.high, 0.01);
      expect(row![column]!.split(" .. ").map(Number)).toEqual([range.low, range.high]);
    }
  });

  it("have bars of time as long as their numbers, and as a whole the difference", () => {
    const html = everyPanelOf("time");
    const rows = rowsOf(html, "Kinds of operators").map((row) => row.map(Number));
    const bars = [...html.matchAll(/<rect class="bar (before|after)" x="150" y="\d+" width="([\d.]+)"/g)];
    const longest = Math.max(...rows.flatMap(([, , , before, after]) => [before!, after!]));
    expect(bars).toHaveLength(2 * rows.length);
    for (const [i, [, side, width]] of bars.entries()) {
      close((Number(width) / 270) * longest, rows[Math.floor(i / 2)]![side === "before" ? 3 : 4]!, 0.01);
    }
  });
});
