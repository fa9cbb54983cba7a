/** Texts with units to numbers. Each parser throws FLAG_INVALID (or CONFIG_INVALID) with the name and the value. */
import { type FaultKind, InferOptError } from "../base/errors.js";
import { likelyName } from "../base/nearest.js";
import type { DropLimit, LatencyLimit } from "../pipeline/config.js";
import type { RequiredShare } from "../pipeline/profile/required-share.js";
import type { StageLimit } from "../pipeline/stages/latency-budget.js";
import type { Sparsity } from "../pruning/sparsity/sparsity.js";
import { processorsOf } from "../runtime/affinity.js";

/** Where a text came from. */
export interface Source {
  /** `--max-drop`, or the key of a config file with its path. */
  readonly name: string;
  readonly kind: Extract<FaultKind, "usage" | "input">;
  /** What relative paths start from. */
  readonly folder: string;
}

/**
 * What the schema of config files says of a value: all that it admits is taken. What it leaves out may be taken too, such as a
 * number that is written as a text.
 */
export interface ValueForm {
  readonly text?: { readonly enum: readonly string[] } | { readonly pattern: string };
  readonly number?: {
    readonly type: "integer" | "number";
    readonly minimum?: number;
    readonly maximum?: number;
    readonly exclusiveMinimum?: number;
    readonly exclusiveMaximum?: number;
  };
}

/** The form is absent where any text may do. */
export type Parse<T> = ((text: string, source: Source) => T) & { readonly form?: ValueForm };

export const formed = <T>(form: ValueForm, parse: (text: string, source: Source) => T): Parse<T> =>
  Object.assign(parse, { form });

/** Source of expressions: a number as `decimal` takes it, and one above 0. */
const NUMBER = String.raw`(\d+(\.\d+)?|\.\d+)`;
const POSITIVE = String.raw`(?=[\d.]*[1-9])${NUMBER}`;
const whole = (pattern: string) => ({ pattern: `^(${pattern})$` });

export function invalid(text: string, { name, kind }: Source, why: string, hint: string): InferOptError {
  const code = kind === "usage" ? "FLAG_INVALID" : "CONFIG_INVALID";
  return new InferOptError(code, kind, `${name}: "${text}" ${why}`, { hint, fields: { flag: name, value: text } });
}

/** Decimal digits only: Number() would also take "", " 1", "0x10" and "1e3". */
const decimal = (text: string): number | null => (/^\d+(\.\d+)?$|^\.\d+$/.test(text) ? Number(text) : null);

export const parseText: Parse<string> = formed({ text: { pattern: "." } }, (text, source) => {
  if (text === "") throw invalid(text, source, "is empty", "Give it a value.");
  return text;
});

export const parseInteger = (least: number, most: number): Parse<number> =>
  formed({ number: { type: "integer", minimum: least, maximum: most } }, (text, source) => {
    const value = /^\d+$/.test(text) ? Number(text) : null;
    if (value !== null && value >= least && value <= most) return value;
    throw invalid(text, source, `is no whole number from ${least} to ${most}`, exampleOf(source, least));
  });

const exampleOf = ({ kind, name }: Source, value: number): string =>
  kind === "usage" ? `For example ${name} ${value}.` : `Give one, for example ${value}.`;

/** `0-2,8`: ascending, each once. */
export const parseProcessors: Parse<readonly number[]> = formed(
  { text: whole(String.raw`\d{1,5}(,\d{1,5})*`) },
  (text, source) => {
    const processors = processorsOf(text);
    if (processors) return processors;
    throw invalid(text, source, "is no list of processors", "Write their numbers, counted from 0: 0,1 or 0-3.");
  },
);

/** `4`, or several: `1,2,4,8`. */
export const parseIntegers = (least: 1, most: number): Parse<readonly number[]> => {
  // As many digits as stay below the most.
  const each = String.raw`\s*[1-9]\d{0,${String(most).length - 2}}\s*`;
  const number = { type: "integer", minimum: least, maximum: most } as const;
  return formed({ number, text: whole(`${each}(,${each})*`) }, (text, source) => {
    const values = text.split(",").map((part) => (/^\d+$/.test(part.trim()) ? Number(part) : Number.NaN));
    if (values.every((value) => value >= least && value <= most)) return [...new Set(values)];
    throw invalid(text, source, `is no whole number from ${least} to ${most}`, exampleOf(source, least));
  });
};

export function parseChoice<const T extends string>(choices: readonly T[]): Parse<T> {
  return formed({ text: { enum: choices } }, (text, source) => {
    const found = choices.find((choice) => choice === text);
    if (found !== undefined) return found;
    const likely = likelyName(text, choices);
    throw invalid(
      text,
      source,
      `is none of ${choices.join(", ")}`,
      likely === null ? "Give one of them." : `Did you mean ${likely}?`,
    );
  });
}

/** Some of the choices, with commas between them, in the order of the choices; or `none`. */
export function parseSome<const T extends string>(choices: readonly T[]): Parse<readonly T[]> {
  const parse = parseChoice(choices);
  const each = String.raw`\s*(${choices.join("|")})\s*`;
  return formed({ text: whole(`none|${each}(,${each})*`) }, (text, source) => {
    if (text === "none") return [];
    const named = text.split(",").map((part) => parse(part.trim(), source));
    return choices.filter((choice) => named.includes(choice));
  });
}

/** `0.5%`, `0.01` or `none`. */
export const parseDrop: Parse<DropLimit> = formed(
  { number: { type: "number", minimum: 0 }, text: whole(String.raw`none|${NUMBER}(\s*%)?`) },
  (text, source) => {
    if (text === "none") return "none";
    const percent = text.endsWith("%");
    const value = decimal(percent ? text.slice(0, -1).trimEnd() : text);
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

/** `48,32,0`: whole numbers, in their order. */
export const parseWidths: Parse<readonly number[]> = formed(
  { text: whole(String.raw`\d{1,7}(,\d{1,7})*`) },
  (text, source) => {
    if (/^\d{1,7}(,\d{1,7})*$/.test(text)) return text.split(",").map(Number);
    throw invalid(text, source, "is no list of whole numbers", "Write how many units stay of each group: 48,32,0.");
  },
);

/** `50%`, or `2:4`: two of every four are left. */
export const parseSparsity: Parse<Sparsity> = formed(
  { text: whole(String.raw`(?=[\d.]*[1-9])(\d{1,2}(\.\d+)?|\.\d+)\s*%|1:2|[12]:4|[1-4]:8`) },
  (text, source) => {
    const [, kept, of] = /^(\d{1,2}):(\d{1,2})$/.exec(text)?.map(Number) ?? [];
    if (kept !== undefined && of !== undefined && kept >= 1 && kept < of && of <= 32)
      return { kind: "pattern", kept, of };
    const percent = text.endsWith("%") ? decimal(text.slice(0, -1).trimEnd()) : null;
    if (percent !== null && percent > 0 && percent < 100) return { kind: "share", share: percent / 100 };
    throw invalid(
      text,
      source,
      "is neither a share of zeros nor a pattern of them",
      "Write 50% for every other weight, or 2:4 for two of every four that are left.",
    );
  },
);

/** `1.2` or `1.2x`. */
export const parseFactor: Parse<number> = formed(
  { number: { type: "number", exclusiveMinimum: 0 }, text: whole(`${POSITIVE}x?`) },
  (text, source) => {
    const value = decimal(text.endsWith("x") ? text.slice(0, -1) : text);
    if (value !== null && value > 0) return value;
    throw invalid(text, source, "is no factor above 0", "Write 1.2 for a fifth faster.");
  },
);

/** `40`, `0.5`. */
export const parsePositive = (example: string): Parse<number> =>
  formed({ number: { type: "number", exclusiveMinimum: 0 }, text: whole(POSITIVE) }, (text, source) => {
    const value = decimal(text);
    if (value !== null && value > 0) return value;
    throw invalid(text, source, "is no plain number above 0", `Write one in digits: ${example}.`);
  });

const bytesPer: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};

/** `10MB`, `512KiB`, `3000000B`: bytes. */
export const parseSize: Parse<number> = formed({ text: whole(`${NUMBER} ?([kKmMgG][iI]?)?[bB]`) }, (text, source) => {
  const parts = /^([\d.]+) ?([a-z]+)$/i.exec(text);
  const value = parts ? decimal(parts[1]!) : null;
  const unit = parts ? bytesPer[parts[2]!.toLowerCase()] : undefined;
  if (value !== null && unit !== undefined) return Math.floor(value * unit);
  throw invalid(text, source, "is no size", "Write a number and a unit: 10MB, 512KiB or 3000000B.");
});

const msPer: Readonly<Record<string, number>> = { us: 1e-3, ms: 1, s: 1e3, m: 6e4, min: 6e4, h: 3.6e6 };

const DURATION = `${POSITIVE} ?(${Object.keys(msPer).join("|")})`;

function duration(text: string): number | null {
  const parts = /^([\d.]+) ?([a-z]+)$/.exec(text);
  const value = parts ? decimal(parts[1]!) : null;
  const unit = parts ? msPer[parts[2]!] : undefined;
  return value !== null && unit !== undefined && value > 0 ? value * unit : null;
}

/** `5m`, `90s`, `500ms`: milliseconds. */
export const parseDuration: Parse<number> = formed({ text: whole(DURATION) }, (text, source) => {
  const value = duration(text);
  if (value !== null) return value;
  throw invalid(text, source, "is no duration", "Write a number and a unit: 5m, 90s or 500ms.");
});

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

/** 0.5, .5 or 50%, but neither nothing nor all. */
const shareForm = {
  number: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
  text: whole(String.raw`(?=[\d.]*[1-9])(0*\.\d+|(0*\d{1,2}(\.\d+)?|\.\d+)%)`),
} as const;

/** Above 0 and below 1, also as a percentage. */
export const parseShare: Parse<number> = formed(shareForm, (text, source) => {
  const percent = text.endsWith("%");
  const value = decimal(percent ? text.slice(0, -1) : text);
  const share = value === null ? null : percent ? value / 100 : value;
  if (share !== null && share > 0 && share < 1) return share;
  throw invalid(text, source, "is no share above 0 and below 1", "Write 0.5 or 50%.");
});

export interface InputShape {
  readonly input: string;
  /** A number settles an axis, a name leaves it open. */
  readonly dims: readonly (number | string)[];
}

const DIM = String.raw`([A-Za-z_][\w.]*|[1-9]\d{0,14})`;
const isName = (dim: string): boolean => /^[A-Za-z_][\w.]*$/.test(dim);

/** `input=1,3,224,224`; a scalar is `input=`. Names may hold "=" and ":" themselves. */
export const parseShape: Parse<InputShape> = formed(
  { text: whole(String.raw`[\s\S]+=(${DIM}(,${DIM})*)?`) },
  (text, source) => {
    const cut = text.lastIndexOf("=");
    const hint = "Write the input's name and its sizes, with names for axes that stay open: input=1,3,H,W.";
    if (cut <= 0) throw invalid(text, source, "names no input", hint);
    const sizes = text.slice(cut + 1);
    const dims = sizes === "" ? [] : sizes.split(",");
    const wrong = dims.find((dim) => !isName(dim) && (!/^[1-9]\d*$/.test(dim) || !Number.isSafeInteger(Number(dim))));
    if (wrong !== undefined)
      throw invalid(text, source, `has "${wrong}" for a size, which is no number above 0 and no name`, hint);
    return { input: text.slice(0, cut), dims: dims.map((dim) => (isName(dim) ? dim : Number(dim))) };
  },
);

export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

/** `2/8`: the second of eight. */
export const parseShard: Parse<Shard> = (text, source) => {
  const parts = /^(\d+)\/(\d+)$/.exec(text);
  const [index, count] = [Number(parts?.[1]), Number(parts?.[2])];
  if (parts && index >= 1 && index <= count) return { index, count };
  throw invalid(text, source, "is no part", "Write which one and of how many, counted from 1: 2/8.");
};

/** Names separated by commas. */
export const parseNames: Parse<readonly string[]> = formed(
  { text: whole(String.raw`[^,]*[^,\s][^,]*(,[^,]*[^,\s][^,]*)*`) },
  (text, source) => {
    const names = text.split(",").map((name) => name.trim());
    if (names.every((name) => name !== "")) return names;
    throw invalid(text, source, "has an empty name", "Separate names by single commas.");
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
