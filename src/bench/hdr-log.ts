/** Times of requests in the log format of HdrHistogram, for whatever reads it: plotters, and programs that add histograms up. */

export interface LatencySeries {
  /** What the times are of: a model, a stage. */
  readonly name: string;
  readonly samplesMs: ArrayLike<number>;
}

/** Decimal digits that values keep: each is within 0.1 % of what was measured. */
const HDR_DIGITS = 3;
const NS_PER_MS = 1e6;

export interface HdrLogOptions {
  readonly toolVersion: string;
  /** Of the measurement; milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
}

/** One interval for each series, with its name as the tag; values are nanoseconds, the largest of each line is told in milliseconds. */
export async function hdrLog(series: readonly LatencySeries[], options: HdrLogOptions): Promise<string> {
  const { build, HistogramLogWriter } = await import("hdr-histogram-js");
  const lines: string[] = [];
  const writer = new HistogramLogWriter((line) => lines.push(line));
  writer.outputComment(`[Latencies measured by infer-opt ${options.toolVersion}, in nanoseconds]`);
  writer.outputLogFormatVersion();
  writer.outputComment(`[StartTime: ${(options.from / 1000).toFixed(3)} (seconds since epoch)]`);
  writer.outputLegend();
  const seconds = (options.until - options.from) / 1000;
  const tags = tagsOf(series.map(({ name }) => name));
  for (const [i, { samplesMs }] of series.entries()) {
    const histogram = build({ bitBucketSize: 32, autoResize: true, numberOfSignificantValueDigits: HDR_DIGITS });
    for (let s = 0; s < samplesMs.length; s++) histogram.recordValue(Math.round(samplesMs[s]! * NS_PER_MS));
    histogram.tag = tags[i]!;
    writer.outputIntervalHistogram(histogram, 0, seconds, NS_PER_MS);
  }
  return lines.join("");
}

/** Tags hold no comma and no white space, and each stands for one series. */
function tagsOf(names: readonly string[]): string[] {
  const taken = new Map<string, number>();
  return names.map((name) => {
    const tag = name.replace(/[\s,]+/g, "_") || "unnamed";
    const times = (taken.get(tag) ?? 0) + 1;
    taken.set(tag, times);
    return times === 1 ? tag : `${tag}#${times}`;
  });
}
