/** The commands that make one of several models again: what a run was asked, with its choices put in the place of searches. */
import { shellWord } from "../base/shell-word.js";
import type { DropLimit, OptimizeConfig } from "./config.js";

/**
 * @param widths units that stay of each group where the model is pruned first
 * @param isOptimized whether what `optimize` does comes then
 */
export function commandsFor(
  config: OptimizeConfig,
  widths: readonly number[] | null,
  isOptimized = true,
): readonly string[] {
  const { model, out } = config;
  const output = out.output ?? "out.onnx";
  const pruned = isOptimized ? `${output.replace(/\.onnx$/i, "")}.pruned.onnx` : output;
  const asked = flagsOf(config);
  const prune = widths && words("prune", model, "-o", pruned, "--widths", widths.join(","), ...asked);
  const from = widths ? [pruned, "-o", output, "--baseline", model] : [model, "-o", output];
  return [
    ...(prune ? [prune] : []),
    ...(isOptimized ? [words("optimize", ...from, ...asked, ...integersOf(config))] : []),
  ];
}

const words = (...all: readonly string[]): string => ["infer-opt", ...all].map(shellWord).join(" ");

function flagsOf({ data, limits, runtime }: OptimizeConfig): readonly string[] {
  const { metric } = data;
  return [
    ...given("--calibration", data.calibration),
    ...given("--eval", data.eval),
    ...given("--metric", metric && (metric.kind === "builtin" ? metric.name : metric.path)),
    ...given("--max-drop", limits.maxDrop && dropText(limits.maxDrop)),
    "--threads",
    String(runtime.threads),
    ...(runtime.provider === "cpu" ? [] : ["--provider", runtime.provider]),
    ...(runtime.seed === 0 ? [] : ["--seed", String(runtime.seed)]),
  ];
}

function integersOf({ quantize: { mode, bits, goal, ranges, selection } }: OptimizeConfig): readonly string[] {
  return [
    ...(mode === "auto" ? [] : ["--mode", mode]),
    ...(bits === 8 ? [] : ["--bits", String(bits)]),
    ...(goal === "speed" ? [] : ["--goal", goal]),
    ...given("--ranges", ranges),
    ...selection.include.flatMap((selector) => ["--include", selector]),
    ...selection.exclude.flatMap((selector) => ["--exclude", selector]),
  ];
}

const given = (flag: string, value: string | null): readonly string[] => (value === null ? [] : [flag, value]);

const dropText = (drop: DropLimit): string =>
  drop === "none" ? drop : "percent" in drop ? `${drop.percent}%` : String(drop.absolute);
