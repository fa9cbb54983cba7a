/** The first screen: what came of it, in ten seconds. */
import type { RunResult } from "../../pipeline/result.js";
import { afterOf, beforeOf } from "../../pipeline/sides.js";
import { benchLines, layerLines } from "../../report/bench-table.js";
import { differenceLines } from "../../report/difference-table.js";
import { nodesText } from "../../report/forms-text.js";
import { limitRows, statusWord, verdictSummary } from "../../report/limits.js";
import { limitLines } from "../../report/limits-table.js";
import { loadLines } from "../../report/load-table.js";
import { fileNames } from "../../report/model-names.js";
import { suggest } from "../../report/next.js";
import {
  bytes,
  change,
  count,
  duration,
  interval,
  percentileRows,
  plural,
  ratio,
  score,
} from "../../report/numbers.js";
import { placementNotes } from "../../report/placement.js";
import { profileLines } from "../../report/profile-table.js";
import { pruningLines } from "../../report/pruning-table.js";
import { byReason } from "../../report/reasons.js";
import { requestLines } from "../../report/request-table.js";
import { type Sheet, sheetOf } from "../../report/sheet.js";
import { sweepLines } from "../../report/sweep-table.js";
import { timeLines } from "../../report/time-table.js";
import type { Look } from "../look.js";
import type { TextScreen } from "../screen.js";
import { grid, paragraph, titled } from "./rows.js";

export const summary: TextScreen = {
  kind: "text",
  name: "summary",
  title: "Summary",
  about:
    "The verdict and its limits, before and after, where the gain came from, what stayed as it was, and one command to try next.",
  keys: () => [],
  text: ({ book: { result, commandLine }, look, width }) =>
    [
      verdict(result, look, width),
      limits(result, look, width),
      numbers(result, width),
      ...measured(result, sheetOf(width + 2, !look.isUnicode)),
      gains(result, width),
      float(result, width),
      warnings(result, look, width),
      next(result, commandLine, look, width),
    ]
      .filter((lines) => lines.length > 0)
      .flatMap((lines, i) => (i === 0 ? lines : ["", ...lines])),
};

function verdict(result: RunResult, look: Look, width: number): string[] {
  const said = verdictSummary(result);
  return said === null ? [] : paragraph(said, width).map(look.strong);
}

/** As wide as the table of the text report is. */
const TABLE_FROM = 76;

function limits(result: RunResult, look: Look, width: number): string[] {
  if (width >= TABLE_FROM) return limitLines(result, look, sheetOf(width + 2, !look.isUnicode));
  const paint = { met: look.good, missed: look.bad, inconclusive: look.unsure };
  return limitRows(result).flatMap(({ limit, status, text }) => {
    const [first, ...rest] = titled(limit, text, width - 8);
    return [`${paint[status](statusWord[status].padEnd(6))}  ${first}`, ...rest.map((line) => `        ${line}`)];
  });
}

function numbers(result: RunResult, width: number): string[] {
  const { accuracy, latency, bench } = result;
  const [model, after] = [beforeOf(result), afterOf(result)];
  const rows: string[][] = [];
  if (accuracy) {
    const { metric, kind, samples, baseline, candidate, delta, deltaInterval } = accuracy;
    const said = `${change(delta)} (${interval(deltaInterval, change)}), ${plural(samples, "sample")}, ${kind}`;
    rows.push([metric, score(baseline), score(candidate), said]);
  }
  if (latency && !bench) {
    const { baseline, candidate, speedup, speedupInterval, runs } = latency;
    const said = `${ratio(speedup)} as fast (${interval(speedupInterval, ratio)}), ${plural(runs, "run")}`;
    rows.push(...percentileRows(baseline, candidate).map((row, i) => [...row, i === 0 ? said : ""]));
  }
  if (after) {
    const times = model.bytes / Math.max(1, after.bytes);
    const said = ratio(times) === ratio(1) ? "" : times > 1 ? `${ratio(times)} smaller` : `${ratio(1 / times)} larger`;
    rows.push(["size", bytes(model.bytes), bytes(after.bytes), said]);
    rows.push(["nodes", count(model.nodes), count(after.nodes), ""]);
  } else if (!bench) rows.push(["model", bytes(model.bytes), plural(model.nodes, "node"), ""]);
  const heading = after || latency || accuracy ? [["", "before", "after", ""]] : [];
  return rows.length === 0 ? [] : grid([...heading, ...rows], width);
}

const TABLE_ROWS = 10;

/** Tables that are as wide as the text report has them: where there is less room, one goes to the right. */
function measured(result: RunResult, sheet: Sheet): string[][] {
  const { bench, profile, request, load, sweep, pruning, layers, difference } = result;
  return [
    timeLines(result, sheet),
    bench ? benchLines(bench, sheet) : [],
    ...(profile ? profileLines(profile, TABLE_ROWS, sheet) : []),
    request ? requestLines(request, sheet) : [],
    load ? loadLines(load, sheet) : [],
    sweep ? sweepLines(sweep, sheet) : [],
    pruning ? pruningLines(pruning, sheet) : [],
    layers ? layerLines(layers, sheet) : [],
    differenceLines(difference),
  ].map((lines) => [...lines]);
}

function gains({ passes, quantization, precision, placement, operatorTimes }: RunResult, width: number): string[] {
  const lines: string[] = [];
  if (quantization) {
    const { mode, bits, why } = quantization;
    lines.push(...titled("integers", `${mode} INT${bits ?? 8}, ${nodesText(quantization)}: ${why}`, width));
  }
  if (precision) lines.push(`${"precision".padEnd(14)}${precision.target === "f16" ? "float16" : "bfloat16"}`);
  const applied = passes.filter((pass) => pass.applied > 0);
  if (applied.length > 0) {
    const told = applied.map(({ name, applied: times }) => `${name} ${count(times)}x`).join(", ");
    lines.push(...titled("passes", told, width));
  }
  if (placement)
    lines.push(...placementNotes(placement, operatorTimes).flatMap(({ title, text }) => titled(title, text, width)));
  return lines;
}

const MOST_REASONS = 4;

function float({ quantization, precision }: RunResult, width: number): string[] {
  const kept = [...(quantization?.float ?? []), ...(precision?.float ?? [])];
  const groups = byReason(kept);
  if (groups.length === 0) return [];
  const shown = groups.slice(0, MOST_REASONS).flatMap(({ reason, nodes }) => {
    const [first, ...rest] = paragraph(reason, width - 7);
    return [`${count(nodes.length).padStart(5)}  ${first}`, ...rest.map((line) => `       ${line}`)];
  });
  const left = groups.length - MOST_REASONS;
  return [
    `kept in float: ${plural(kept.length, "node")}`,
    ...shown,
    ...(left > 0 ? [`       and ${plural(left, "more reason")}: screen 2`] : []),
  ];
}

const warnings = ({ warnings: all }: RunResult, look: Look, width: number): string[] =>
  all.flatMap((warning) => {
    const [first, ...rest] = paragraph(warning, width - 9);
    return [`${look.unsure("warning")}  ${first}`, ...rest.map((line) => `         ${line}`)];
  });

function next(result: RunResult, commandLine: string | null, look: Look, width: number): string[] {
  const suggestion = suggest(result, commandLine);
  const { model, resources } = result;
  const after = afterOf(result);
  const models = [model, ...(after ? [after] : [])];
  const names = fileNames(models);
  const files = models.map(({ path }) => names.get(path)!).join(" -> ");
  const closing = paragraph(
    `${files}, ${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}`,
    width,
  );
  return [
    ...(suggestion
      ? [...paragraph(`next  ${suggestion.command}`, width), `      ${look.faint(`(${suggestion.why})`)}`]
      : []),
    ...closing.map(look.faint),
  ];
}
