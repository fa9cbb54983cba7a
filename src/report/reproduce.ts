/** Commands made of the one that gave a result: what makes a candidate again, or leaves more layers in float. */
import { shellWord } from "../base/shell-word.js";
import type { CandidateFacts, RunResult } from "../pipeline/result.js";

/** Words as a shell splits them, quotes kept. */
const shellWords = (commandLine: string): string[] => commandLine.match(/(?:'[^']*'|\\'|[^\s'\\])+/g) ?? [];

const unquoted = (word: string): string => word.replace(/'([^']*)'|\\'/g, (_, inside?: string) => inside ?? "'");

/** The values that a flag was given, in any spelling. */
export function flagValues(commandLine: string, flag: string): string[] {
  const words = shellWords(commandLine);
  return words.flatMap((word, i) => {
    if (word === flag) return words[i + 1] === undefined ? [] : [unquoted(words[i + 1]!)];
    return word.startsWith(`${flag}=`) ? [unquoted(word.slice(flag.length + 1))] : [];
  });
}

/** The command with the flag given so and in no other way; null takes it out. */
export function withFlag(commandLine: string, flag: string, value: string | null): string {
  const words = shellWords(commandLine);
  const kept = words.filter((word, i) => word !== flag && words[i - 1] !== flag && !word.startsWith(`${flag}=`));
  return [...kept, ...(value === null ? [] : [flag, shellWord(value)])].join(" ");
}

const withoutSwitch = (commandLine: string, flag: string): string =>
  shellWords(commandLine)
    .filter((word) => word !== flag)
    .join(" ");

/** Those of these flags that the command was given, as they were, with a space before each. */
export function carried(commandLine: string, values: readonly string[], switches: readonly string[] = []): string {
  const words = shellWords(commandLine);
  return [
    ...values.flatMap((flag) => flagValues(commandLine, flag).map((value) => ` ${flag} ${shellWord(value)}`)),
    ...switches.filter((flag) => words.includes(flag)).map((flag) => ` ${flag}`),
  ].join("");
}

/** Flags that mean the same to every command that changes a model. */
const changing = ["--skip", "--only", "--fold-budget", "--shape", "--batch"];

/** What was typed; where nobody knows, as far as the result tells. */
export function commandOf(result: RunResult, commandLine: string | null): string {
  if (commandLine !== null) return commandLine;
  const { command, model, output } = result;
  const out = output ? ` -o ${shellWord(output.path)}` : "";
  return `infer-opt ${command} ${shellWord(model.path)}${out}`;
}

export interface Reproduction {
  readonly command: string;
  /** What to know about it; null where it does just the same. */
  readonly note: string | null;
}

/** The command that makes a candidate. One that was not taken is asked for by what makes it different. */
export function reproduce(result: RunResult, candidate: CandidateFacts, commandLine: string | null): Reproduction {
  const command = commandOf(result, commandLine);
  const missing = commandLine === null ? "the result does not say which data and limits there were: add them" : null;
  if (candidate.chosen) return { command, note: missing };
  const { model, output } = result;
  // What was taken stays: this goes beside it.
  const taken = output?.path ?? flagValues(command, "-o")[0] ?? flagValues(command, "--output")[0] ?? "out.onnx";
  const out = `${taken.replace(/\.onnx$/i, "")}.other.onnx`;
  const { name } = candidate;
  const from = shellWord(model.path);
  const to = `${from} -o ${shellWord(out)}`;
  if (/^float32 fused/.test(name)) {
    const flags = carried(command, [...changing, "--target"], ["--keep-opset", "--lossy", "--runtime-specific"]);
    return { command: `infer-opt fuse ${to}${flags}`, note: null };
  }
  if (/^float16/.test(name)) {
    const flags = carried(command, [...changing, "--include", "--exclude"], ["--keep-opset"]);
    return { command: `infer-opt fp16 ${to}${flags}`, note: null };
  }
  const widths =
    result.command === "prune" ? result.pruning?.pareto.find((net) => net.name === name)?.widths : undefined;
  if (widths) return { command: prunedTo(widths, command, out), note: missing ?? rejectedNote(out) };
  const mode = / static/.test(name)
    ? "static"
    : / dynamic/.test(name)
      ? "dynamic"
      : / weights/.test(name)
        ? "weights"
        : null;
  // What was pruned before is nowhere to be had by itself.
  const isPruned = shellWords(command).includes("--prune");
  if (mode === null || isPruned) return { command, note: "the whole search, which comes by it on the way" };
  const method = /^int8 static (\w+)(?![\w/])/.exec(name)?.[1] ?? null;
  const bits = /^int4 /.test(name) ? "4" : null;
  const asked = [
    ["--mode", mode],
    ...(method === null ? [] : [["--method", method] as const]),
    ...(bits === null ? [] : [["--bits", bits] as const]),
  ] as const;
  // By itself: `optimize` would try the others again, and take one of them.
  const alone = withoutSwitch(command.replace(/^(\S+) optimize(?= )/, "$1 quantize"), "--lossy");
  return { command: madeAlone(alone, asked, out), note: missing ?? rejectedNote(out) };
}

const rejectedNote = (out: string): string =>
  `written as ${out.replace(/\.onnx$/i, ".rejected.onnx")} where it is no gain`;

/** The net of these widths, without the search that found it. */
function prunedTo(widths: readonly number[], command: string, out: string): string {
  const asked = [
    ["--target-speedup", null],
    ["--keep-ratio", null],
    ["--widths", widths.join(",")],
  ] as const;
  return madeAlone(command, asked, out);
}

/** It is to be made, whatever it costs. */
function madeAlone(command: string, asked: readonly (readonly [string, string | null])[], out: string): string {
  const beside = [
    ["--max-drop", "none"],
    ["--output", null],
    ["-o", out],
    ...["--report", "--min-speedup", "--slo", "--max-size"].map((flag) => [flag, null] as const),
  ] as const;
  const plain = ["--in-place", "--keep-rejected", "--json", "--quiet"].reduce(withoutSwitch, command);
  return `${[...asked, ...beside].reduce((sofar, [flag, value]) => withFlag(sofar, flag, value), plain)} --keep-rejected`;
}

/** The command that gave the result, with these nodes in float as well. */
export function excludeCommand(result: RunResult, nodes: readonly string[], commandLine: string | null): string {
  const command = commandOf(result, commandLine);
  // A name is taken as it is written, unless it looks like a pattern: those are matched, each by itself.
  const exclude = [...new Set([...flagValues(command, "--exclude"), ...nodes])];
  const flags = exclude.map((node) => ` --exclude ${shellWord(node)}`).join("");
  return `${withFlag(command, "--exclude", null)}${flags}`;
}

export interface ExcludeList {
  /** A config file. */
  readonly text: string;
  readonly command: string;
}

/** A config file that keeps these nodes in float as well, and the command that uses it. */
export function excludeList(
  result: RunResult,
  nodes: readonly string[],
  path: string,
  commandLine: string | null,
): ExcludeList {
  const command = commandOf(result, commandLine);
  const exclude = [...new Set([...flagValues(command, "--exclude"), ...nodes])];
  const config = flagValues(command, "--config");
  const text = `${JSON.stringify({ exclude }, null, 2)}\n`;
  if (config.length === 0) return { text, command: withFlag(withFlag(command, "--exclude", null), "--config", path) };
  return { text, command: excludeCommand(result, nodes, commandLine) };
}
