/**
 * The result for a terminal, 80 columns: verdict, limits, numbers, what changed, why not
 * more, where to look next. A pure function; colour repeats words and never replaces them.
 */
import { basename } from "node:path";
import type { LatencyFacts, Percentiles, PlacementFacts, RunResult } from "../pipeline/result.js";
import { benchLines, layerLines } from "./bench-table.js";
import { conditionsText } from "./conditions.js";
import { differenceLines, driftLines, referenceLines } from "./difference-table.js";
import { middle, printable } from "./escape.js";
import { formsText, integersText } from "./forms-text.js";
import { limitRows, verdictSummary, verdictWord } from "./limits.js";
import { loadLines } from "./load-table.js";
import { suggest } from "./next.js";
import {
  bytes,
  change,
  count,
  duration,
  interval,
  milliseconds,
  plural,
  ratio,
  score,
  significant,
} from "./numbers.js";
import type { Palette } from "./palette.js";
import { type PlacementNote, placementNotes } from "./placement.js";
import { profileLines } from "./profile-table.js";
import { pruningLines } from "./pruning-table.js";
import { byReason } from "./reasons.js";
import { requestLines } from "./request-table.js";
import { shapeRows } from "./shapes.js";
import { sweepLines } from "./sweep-table.js";
import { columns, wrap } from "./table.js";

const WIDTH = 79;
const TITLE = 14;
const MOST_REASONS = 5;
const MOST_CANDIDATES = 8;
const PROFILE_ROWS = 15;

/** `commandLine`: the command that gave the result, for the suggestion at the end; `rows`: of each table of a profile. */
export function renderText(
  result: RunResult,
  paint: Palette,
  commandLine: string | null = null,
  rows: number = PROFILE_ROWS,
): string {
  const sections = [
    head(result, paint),
    limits(result, paint),
    accuracy(result),
    ...(result.profile
      ? profileLines(result.profile, rows)
      : [result.bench ? benchLines(result.bench) : latency(result)]),
    result.request ? requestLines(result.request) : [],
    result.load ? loadLines(result.load) : [],
    result.sweep ? sweepLines(result.sweep) : [],
    result.bench || result.profile || result.load || result.sweep || result.request ? [] : size(result),
    fixedSizes(result),
    placement(result),
    changed(result),
    keptFloat(result),
    differenceLines(result.difference),
    result.references ? referenceLines(result.references) : [],
    result.drift ? driftLines(result.drift) : [],
    result.layers ? layerLines(result.layers) : [],
    result.pruning ? pruningLines(result.pruning) : [],
    candidates(result),
    warnings(result, paint),
    closing(result, paint, commandLine),
  ];
  const blocks = sections.filter((lines) => lines.length > 0).map((lines) => lines.map((line) => ` ${line}`.trimEnd()));
  return `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function head(result: RunResult, paint: Palette): string[] {
  const { verdict, model, latency, profile, load, request } = result;
  const output = result.output ?? result.candidateModel ?? null;
  // The table of bench says it all.
  const summary = result.bench ? null : verdictSummary(result);
  const color = { pass: paint.good, fail: paint.bad, inconclusive: paint.unsure }[verdict.status];
  const word = verdictWord(result);
  const run = latency ?? profile ?? load;
  const where = run ? conditions(run) : request ? `${request.provider}, ${plural(request.threads, "thread")}` : "";
  const names = [model, output].flatMap((file) => (file ? [printable(basename(file.path))] : []));
  const room = WIDTH - word.length - 3 - (where ? where.length + 3 : 0);
  const each = Math.floor((room - 4) / 2);
  const title = names.length === 2 ? names.map((name) => middle(name, each)).join(" -> ") : middle(names[0]!, room);
  return [
    `${color(word)}  ${title.padEnd(room)}${where}`,
    ...(summary === null ? [] : wrap(printable(summary), WIDTH - 1)),
  ];
}

const conditions = ({ provider, threads, batch }: Pick<LatencyFacts, "provider" | "threads" | "batch">): string =>
  `${provider}, ${plural(threads, "thread")}, batch ${batch}`;

function limits(result: RunResult, paint: Palette): string[] {
  const rows = limitRows(result);
  if (rows.length === 0) return [];
  const words = { met: "ok", missed: "miss", inconclusive: "?" };
  const colors = { met: paint.good, missed: paint.bad, inconclusive: paint.unsure };
  const name = Math.max(...rows.map(({ limit }) => limit.length));
  const lines = rows.flatMap(({ limit, status, text }) => {
    const [first, ...rest] = wrap(printable(text), WIDTH - name - 9);
    const indent = " ".repeat(name + 8);
    return [
      `${colors[status](words[status].padEnd(4))}  ${limit.padEnd(name)}  ${first}`,
      ...rest.map((line) => `${indent}${line}`),
    ];
  });
  const from = result.configPath === undefined ? "" : `, ${printable(basename(result.configPath))} read`;
  return [`limits${from}`, ...lines];
}

function accuracy({ accuracy }: RunResult): string[] {
  if (!accuracy) return [];
  const kinds = {
    labels: "against labels",
    agreement: "agreement with the float model",
    reference: "agreement with the outputs that came with the data",
    smoke: "smoke test on random inputs: says nothing about accuracy",
  };
  const direction = accuracy.higherIsBetter ? "" : ", lower is better";
  const rows = [
    ["before", score(accuracy.baseline), ""],
    [
      "after",
      score(accuracy.candidate),
      `${change(accuracy.delta)}, ${Number((accuracy.confidence * 100).toPrecision(4))} % interval ${interval(accuracy.deltaInterval, change)}`,
    ],
  ];
  const title = `${printable(accuracy.metric)}, ${plural(accuracy.samples, "sample")}, ${kinds[accuracy.kind]}${direction}`;
  const [first, ...rest] = wrap(title, WIDTH - TITLE - 3);
  return [
    `${"accuracy".padEnd(TITLE)}  ${first}`,
    ...rest.map((line) => `${" ".repeat(TITLE)}  ${line}`),
    ...titled(columns(rows, ["left", "right", "left"])),
  ];
}

function latency({ latency }: RunResult): string[] {
  if (!latency) return [];
  const row = (title: string, p: Percentiles): string[] => [
    title,
    ...[p.p50Ms, p.p95Ms, p.p99Ms, p.p999Ms].map(milliseconds),
    count(latency.runs),
  ];
  const table = columns(
    [
      ["latency ms".padEnd(TITLE), "p50", "p95", "p99", "p99.9", "runs"],
      row("before", latency.baseline),
      row("after", latency.candidate),
    ],
    ["left", "right", "right", "right", "right", "right"],
  );
  const speed = `${ratio(latency.speedup)} as fast, interval ${interval(latency.speedupInterval, ratio)}`;
  return [...table, `${"speed".padEnd(TITLE)}  ${speed}`];
}

function size({ model, output, candidateModel }: RunResult): string[] {
  const after = output ?? candidateModel;
  if (!after) return [];
  const rows = [
    ["before", bytes(model.bytes), plural(model.nodes, "node"), ""],
    ["after", bytes(after.bytes), plural(after.nodes, "node"), smaller(model.bytes, after.bytes)],
  ];
  return ["size", ...titled(columns(rows, ["left", "right", "right", "left"]))];
}

function smaller(before: number, after: number): string {
  if (ratio(before / Math.max(1, after)) === ratio(1)) return "as large as before";
  if (after <= before) return `${ratio(before / Math.max(1, after))} smaller`;
  return `${ratio(after / Math.max(1, before))} larger`;
}

function fixedSizes(result: RunResult): string[] {
  const rows = shapeRows(result);
  if (rows.length === 0) return [];
  const lines = rows.slice(0, MOST_CANDIDATES).map(({ port, name, before, after }) => {
    const sizes = `${printable(before)} -> ${printable(after)}`;
    return [port, middle(printable(name), 30), middle(sizes, WIDTH - 44)];
  });
  const left = rows.length - lines.length;
  return [
    "fixed sizes",
    ...titled(columns(lines, ["left", "left", "left"])),
    ...(left > 0 ? [`  and ${left} more in the JSON result`] : []),
  ];
}

function placement({ placement, bench }: RunResult): string[] {
  const rows = bench
    ? bench.models.flatMap((row) => (row.placement ? notesOf(row.placement, `${basename(row.model.path)}: `) : []))
    : placement
      ? notesOf(placement)
      : [];
  return rows.flatMap(({ title, text }) => {
    const [first, ...rest] = wrap(printable(text), WIDTH - TITLE - 3);
    return [`${title.padEnd(TITLE)}  ${first}`, ...rest.map((line) => `${" ".repeat(TITLE)}  ${line}`)];
  });
}

const notesOf = (placement: PlacementFacts, prefix = ""): PlacementNote[] =>
  placementNotes(placement).map(({ title, text }) => ({ title, text: prefix + text }));

function changed({ passes, quantization, precision }: RunResult): string[] {
  const applied = passes.filter((pass) => pass.applied > 0);
  const undone = passes.filter((pass) => pass.rejected !== undefined);
  const rows = applied.map(({ name, applied: times }) => [name, `${count(times)}x`]);
  const lines = columns(rows, ["left", "right"]);
  for (const { name, applied: kept, rejected } of undone) {
    lines.push(...wrap(`${name} undone${kept > 0 ? " in part" : ""}: ${printable(rejected!)}`, WIDTH - 3));
  }
  if (quantization) {
    const { mode, bits, method, nodes, why, calibration } = quantization;
    const forms = printable(formsText(quantization));
    const parts = [
      `${mode} INT${bits ?? 8}${method ? ` (${printable(method)} ranges)` : ""}, ${plural(nodes, "node")} on integers`,
      ...(forms ? [forms] : []),
      ...(calibration ? [`${plural(calibration.samples, "calibration sample")}`] : []),
    ];
    lines.push(...wrap(parts.join(", "), WIDTH - 3), ...wrap(printable(why), WIDTH - 3));
    lines.push(...integersText(quantization).flatMap((line) => wrap(printable(line), WIDTH - 3)));
    for (const note of quantization.notes) lines.push(...wrap(`note: ${printable(note)}`, WIDTH - 3));
  }
  if (precision) {
    lines.push(precision.target === "f16" ? "float16" : "bfloat16");
    for (const note of precision.notes) lines.push(...wrap(`note: ${printable(note)}`, WIDTH - 3));
  }
  return lines.length === 0 ? [] : ["what changed", ...titled(lines)];
}

function keptFloat({ quantization, precision }: RunResult): string[] {
  const float = [...(quantization?.float ?? []), ...(precision?.float ?? [])];
  if (float.length === 0) return [];
  const groups = byReason(float);
  const lines = groups.slice(0, MOST_REASONS).flatMap(({ reason, nodes }) => {
    const [first, ...rest] = wrap(printable(reason), WIDTH - 9);
    const examples = nodes.slice(0, 3).map((node) => middle(printable(node), 32));
    const more = nodes.length > 3 ? `, and ${nodes.length - 3} more` : "";
    return [
      `${count(nodes.length).padStart(4)}  ${first}`,
      ...[...rest, ...wrap(`${examples.join(", ")}${more}`, WIDTH - 9)].map((line) => `      ${line}`),
    ];
  });
  if (groups.length > MOST_REASONS) {
    lines.push(`      and ${plural(groups.length - MOST_REASONS, "more reason")}: in the JSON result`);
  }
  const of = quantization ? ` of ${count(quantization.nodes + quantization.float.length)}` : "";
  return [`kept in float  ${count(float.length)}${of}`, ...lines.map((line) => ` ${line}`)];
}

function candidates({ candidates }: RunResult): string[] {
  if (candidates.length < 2) return [];
  const shown = candidates.slice(0, MOST_CANDIDATES);
  const optional = (value: number | null, show: (value: number) => string): string =>
    value === null ? "-" : show(value);
  const rows = shown.map(({ name, chosen, speedup, accuracy, sqnrDb, bytes: size, floatNodes }) => [
    `${chosen ? "*" : " "} ${middle(printable(name), 28)}`,
    optional(speedup, ratio),
    optional(accuracy, score),
    optional(sqnrDb, significant),
    bytes(size),
    count(floatNodes),
  ]);
  const table = columns(
    [["candidates", "speed", "accuracy", "SQNR dB", "size", "float"], ...rows],
    ["left", "right", "right", "right", "right", "right"],
  );
  const left = candidates.length - shown.length;
  return left > 0 ? [...table, `  and ${left} more in the JSON result`] : table;
}

function warnings({ warnings }: RunResult, paint: Palette): string[] {
  return warnings.flatMap((warning) => {
    const [first, ...rest] = wrap(printable(warning), WIDTH - 10);
    return [`${paint.unsure("warning")}  ${first}`, ...rest.map((line) => `         ${line}`)];
  });
}

function closing(result: RunResult, paint: Palette, commandLine: string | null): string[] {
  const { resources, environment } = result;
  const spent = `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}`;
  const conditions = result.conditions ? `; ${printable(conditionsText(result.conditions))}` : "";
  const machine = `${printable(environment.cpu)}, onnxruntime ${printable(environment.onnxruntime)}${conditions}`;
  const next = suggest(result, commandLine);
  const lines = wrap(`${spent}, ${machine}`, WIDTH - 1).map((line) => paint.faint(line));
  return next ? [...lines, `next  ${printable(next.command)}`, `      ${paint.faint(`(${next.why})`)}`] : lines;
}

const titled = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);
