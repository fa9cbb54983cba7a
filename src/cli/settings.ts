/** From raw flags and a config file to settings, and from settings to the configs of the pipeline. */
import { InferOptError } from "../base/errors.js";
import { NEWEST_OPSET } from "../passes/opset/range.js";
import type {
  DataConfig,
  FuseConfig,
  GraphConfig,
  Limits,
  OutputConfig,
  PruneConfig,
  QuantizeConfig,
  RuntimeConfig,
  Selection,
} from "../pipeline/config.js";
import { requireTarget } from "../target/find-target.js";
import { type Flag, longName } from "./flag.js";
import { type FlagName, flags, type Settings } from "./flags.js";
import type { Source } from "./values/parse.js";

/** Texts as given: one for a value, several for a list, `true` for a switch. Absent: not given. */
export type RawValues = Readonly<Partial<Record<FlagName, string | readonly string[] | boolean>>>;

export interface RawConfig {
  readonly path: string;
  /** What paths in it start from. */
  readonly folder: string;
  readonly values: RawValues;
}

/** Flags win over the file, the file over the defaults. Throws FLAG_INVALID or CONFIG_INVALID. */
export function resolveSettings(raw: RawValues, cwd: string, config: RawConfig | null): Settings {
  const resolved = Object.entries<Flag<unknown>>(flags).map(([key, flag]) => {
    const name = key as FlagName;
    const given = raw[name];
    if (given !== undefined) return [name, read(flag, given, { name: longName(flag), kind: "usage", folder: cwd })];
    const stored = config?.values[name];
    if (config && stored !== undefined) {
      return [name, read(flag, stored, { name: `${name} in ${config.path}`, kind: "input", folder: config.folder })];
    }
    return [name, flag.fallback];
  });
  return Object.fromEntries(resolved) as Settings;
}

function read(flag: Flag<unknown>, given: string | readonly string[] | boolean, source: Source): unknown {
  if (typeof given === "boolean") return given;
  return typeof given === "string" ? flag.parse(given, source) : given.map((text) => flag.parse(text, source));
}

const DEFAULT_BENCH_MS = 10_000;
/** Where no limit is to be decided, only that it is faster: at most, since the race ends when that is clear. */
const QUICK_BENCH_MS = 8000;
const DEFAULT_SEARCH_MS = 20_000;
/** Of `--budget`, where there is something to search: trying candidates takes more than the last race. */
const SEARCH_SHARE = 0.6;

export function runtimeConfig(settings: Settings, searches = false): RuntimeConfig {
  const { provider, allowFallback, seed, budget, shape, maxMemory, affinity } = settings;
  const isQuick = searches && settings.maxDrop === "none" && settings.minSpeedup === null && settings.slo.length === 0;
  const usualMs = isQuick ? QUICK_BENCH_MS : DEFAULT_BENCH_MS;
  const benchMs = budget === null ? usualMs : searches ? budget * (1 - SEARCH_SHARE) : budget;
  const twice = shape.find(({ input }, i) => shape.findIndex((other) => other.input === input) !== i);
  if (twice) {
    throw new InferOptError("FLAG_INVALID", "usage", `--shape: "${twice.input}" has two shapes`, {
      hint: "Give one shape for each input.",
      fields: { flag: "--shape", value: twice.input },
    });
  }
  const shapes = new Map(shape.map(({ input, dims }) => [input, dims.map(sizeOrOpen)]));
  const [threads, batch] = [onlyOne("--threads", settings.threads), onlyOne("--batch", settings.batch)];
  return {
    provider,
    threads,
    allowFallback,
    seed,
    batch,
    benchMs,
    shapes,
    maxMemoryBytes: maxMemory,
    ...(affinity && { affinity }),
  };
}

function onlyOne(flag: string, values: readonly number[]): number {
  const [value, ...more] = values as [number, ...number[]];
  if (more.length === 0) return value;
  throw new InferOptError("FLAG_INVALID", "usage", `${flag}: several values, and this command takes one`, {
    hint: "Sweep over several with `bench`, without --eval, --rate and --trace.",
    fields: { flag, value: values.join(",") },
  });
}

/** An axis with a name stays as the model has it. */
const sizeOrOpen = (dim: number | string): number | null => (typeof dim === "number" ? dim : null);

export const dataConfig = ({ calibration, eval: evaluation, metric }: Settings): DataConfig => ({
  calibration,
  eval: evaluation,
  metric,
});

/** Throws FLAG_INVALID where flags contradict each other. */
export function graphConfig(settings: Settings): GraphConfig {
  const { keepOpset, opset, target } = settings;
  if (opset !== null && keepOpset) {
    throw contradiction(`--opset ${opset}`, "--keep-opset leaves the opset as it is", "Leave out one of the two.");
  }
  if (settings.bisect && settings.verify === "none") {
    const hint = "Leave out --bisect, or compare with --verify fast.";
    throw contradiction("--bisect", "--verify none finds no wrong rewrite that could be left out", hint);
  }
  const newest = target === null ? NEWEST_OPSET : requireTarget(target).newestOpset;
  if (opset !== null && opset > newest) {
    throw contradiction(`--opset ${opset}`, `${target} takes opsets up to ${newest}`, `Ask for ${newest} or less.`);
  }
  return {
    skip: settings.skip.flat(),
    only: settings.only.flat(),
    keepOpset,
    ...(opset !== null && { opset }),
    ...(target !== null && { target }),
    foldBudgetBytes: settings.foldBudget,
    check: true,
    verify: settings.verify,
    bisect: settings.bisect,
    runtimeSpecific: settings.runtimeSpecific,
    ...(settings.lossy && { lossy: true }),
    shapes: new Map(settings.shape.map(({ input, dims }) => [input, dims])),
  };
}

const contradiction = (flag: string, why: string, hint: string): InferOptError =>
  new InferOptError("FLAG_INVALID", "usage", `${flag}: ${why}`, { hint, fields: { flag } });

const outputConfig = ({ externalData, keepRejected }: Settings, output: string): OutputConfig => ({
  output,
  externalData,
  keepRejected,
});

export const limitsOf = ({ maxDrop, minSpeedup, slo, maxSize, confidence }: Settings): Limits => ({
  maxDrop,
  minSpeedup,
  slo,
  maxSizeBytes: maxSize,
  confidence,
});

export const selectionOf = ({ include, exclude }: Settings): Selection => ({ include, exclude });

export const quantizeConfig = (settings: Settings): QuantizeConfig => ({
  mode: settings.mode,
  ...(settings.format === "qoperator" && { format: "qoperator" as const }),
  bits: settings.bits === "4" ? 4 : 8,
  corrections: settings.corrections,
  method: settings.method,
  ranges: settings.ranges,
  selection: selectionOf(settings),
  goal: settings.goal,
  budgetMs: settings.budget,
  searchMs: settings.budget === null ? DEFAULT_SEARCH_MS : settings.budget * SEARCH_SHARE,
});

export const fuseConfig = (settings: Settings, model: string, output: string, searches = false): FuseConfig => ({
  model,
  runtime: runtimeConfig(settings, searches),
  data: dataConfig(settings),
  out: outputConfig(settings, output),
  graph: graphConfig(settings),
});

/** Throws FLAG_INVALID where flags contradict each other. */
export function pruneConfig(settings: Settings): PruneConfig["prune"] {
  const { sparsity, keepRatio, widths, targetSpeedup, recover } = settings;
  const other =
    [
      ["--keep-ratio", keepRatio !== null] as const,
      ["--widths", widths !== null] as const,
      ["--target-speedup", targetSpeedup !== null] as const,
      ["--recover", recover] as const,
    ].find(([, isGiven]) => isGiven)?.[0] ?? null;
  if (widths && (keepRatio !== null || targetSpeedup !== null)) {
    const second = keepRatio !== null ? "--keep-ratio" : "--target-speedup";
    throw contradiction(
      "--widths",
      `it says how wide each group becomes, and so does ${second}`,
      `Leave out ${second}.`,
    );
  }
  if (sparsity && other !== null) {
    const why = `zeros leave a net as wide and as fast as it is, and ${other} is about narrower ones`;
    throw contradiction("--sparsity", why, `Leave out ${other}, or prune first and give the result zeros then.`);
  }
  return {
    ...{ targetSpeedup, keepRatio, widths, sparsity, recover },
    // Nothing but size can come of zeros here.
    goal: sparsity ? "size" : settings.goal,
    selection: selectionOf(settings),
    budgetMs: settings.budget,
  };
}
