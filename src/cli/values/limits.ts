/** What results are held against. Each parser throws FLAG_INVALID (or CONFIG_INVALID) with the name and the value. */
import type { DropLimit, LatencyLimit } from "../../pipeline/config.js";
import type { RequiredShare } from "../../pipeline/profile/required-share.js";
import type { StageLimit } from "../../pipeline/stages/latency-budget.js";
import { decimal, formed, invalid, NUMBER, type Parse, whole } from "./parse.js";
import { DURATION, duration } from "./units.js";

/** Errors, and limits on them, are told with an exponent where they are small (3e-7). */
const SCIENTIFIC = String.raw`${NUMBER}([eE][+-]?\d{1,2})?`;
const scientific = (text: string): number | null => (new RegExp(`^${SCIENTIFIC}$`).test(text) ? Number(text) : null);

/** `0.5%`, `0.01`, `3e-7` or `none`. */
export const parseDrop: Parse<DropLimit> = formed(
  { number: { type: "number", minimum: 0 }, text: whole(String.raw`none|${SCIENTIFIC}(\s*%)?`) },
  (text, source) => {
    if (text === "none") return "none";
    const percent = text.endsWith("%");
    const value = scientific(percent ? text.slice(0, -1).trimEnd() : text);
    if (value === null) {
      throw invalid(
        text,
        source,
        "is no limit",
        "Write 0.5% (points of a rate), 0.01 (the metric's own unit) or none.",
      );
    }
    return percent ? { percent: value } : { absolute: value };
  },
);

const percentiles: ReadonlyMap<string, LatencyLimit["percentile"]> = new Map([
  ["p50", "p50"],
  ["p90", "p90"],
  ["p95", "p95"],
  ["p99", "p99"],
  ["p99.9", "p999"],
  ["p999", "p999"],
]);

/** `p95=20ms`. */
export const parseSlo: Parse<LatencyLimit> = formed(
  { text: whole(`(${[...percentiles.keys()].join("|").replaceAll(".", "[.]")})=${DURATION}`) },
  (text, source) => {
    const [name, value, ...rest] = text.split("=");
    const percentile = percentiles.get(name!);
    const ms = duration(value ?? "");
    if (percentile && ms !== null && rest.length === 0) return { percentile, ms };
    throw invalid(
      text,
      source,
      "is no latency limit",
      "Write a percentile (p50, p90, p95, p99, p99.9) and a time: p95=20ms.",
    );
  },
);

/** `p95`, for limits that are all about one percentile. */
export const parsePercentile: Parse<LatencyLimit["percentile"]> = formed(
  { text: { enum: [...percentiles.keys()] } },
  (text, source) => {
    const percentile = percentiles.get(text);
    if (percentile) return percentile;
    throw invalid(text, source, "is no percentile", "Write p50, p90, p95, p99 or p99.9.");
  },
);

export interface BenchBudget {
  /** For how long to measure; null where the text has limits. */
  readonly ms: number | null;
  readonly stages: readonly StageLimit[];
}

const STAGE_LIMIT = String.raw`[^,=]*[^,=\s][^,=]*=\s*${DURATION}\s*`;

/** `1m`: for how long to measure; `preprocess=10ms,inference=30ms`: what stages of a request may take. */
export const parseBenchBudget: Parse<BenchBudget> = formed(
  { text: whole(`${DURATION}|${STAGE_LIMIT}(,${STAGE_LIMIT})*`) },
  (text, source) => {
    if (!text.includes("=")) {
      const ms = duration(text);
      if (ms !== null) return { ms, stages: [] };
      const hint = "Write a time to measure for (5m, 90s), or limits of stages: preprocess=10ms,inference=30ms.";
      throw invalid(text, source, "is no duration and no budget", hint);
    }
    const stages = text.split(",").map((part): StageLimit => {
      const at = part.lastIndexOf("=");
      const [stage, ms] = [part.slice(0, at).trim(), duration(part.slice(at + 1).trim())];
      if (at > 0 && stage !== "" && ms !== null) return { stage, ms };
      throw invalid(part, source, "is no limit of a stage", "Write stages and times: preprocess=10ms,inference=30ms.");
    });
    return { ms: null, stages };
  },
);

/** `95%` or `0.95`: a probability. */
export const parseConfidence: Parse<number> = formed(
  {
    number: { type: "number", minimum: 0.5, exclusiveMaximum: 1 },
    text: whole(String.raw`[5-9]\d(\.\d{1,6})?%|0?\.[5-9]\d{0,8}`),
  },
  (text, source) => {
    const percent = text.endsWith("%");
    const value = decimal(percent ? text.slice(0, -1) : text);
    const share = value === null ? null : percent ? value / 100 : value;
    if (share !== null && share >= 0.5 && share < 1) return share;
    throw invalid(text, source, "is no confidence from 50% to below 100%", "Write 95% or 0.95.");
  },
);

/** `cuda>=95%`. */
export const parseRequiredShare: Parse<RequiredShare> = formed(
  { text: whole(String.raw`[a-zA-Z]\w* ?>= ?(0*(100(\.0+)?|\d{1,2}(\.\d+)?)|\.\d+)%`) },
  (text, source) => {
    const parts = /^([a-z]\w*) ?>= ?([\d.]+)%$/i.exec(text);
    const percent = parts ? decimal(parts[2]!) : null;
    if (parts && percent !== null && percent <= 100) return { provider: parts[1]!.toLowerCase(), share: percent / 100 };
    throw invalid(text, source, "is no share of a provider", "Write cuda>=95%, in quotes for the shell.");
  },
);
