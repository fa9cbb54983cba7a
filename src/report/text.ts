/**
 * The result for a terminal: verdict, limits, numbers, where the time went, what stayed float and why, what else
 * there is, where to look next. 80 columns hold all of it, wider sheets more. A pure function; colour repeats words
 * and never replaces them.
 */
import type { LatencyFacts, RunResult } from "../pipeline/result.js";
import { afterOf } from "../pipeline/sides.js";
import { accuracyLines, fixedSizeLines, sizeLines } from "./before-after.js";
import { benchLines, layerLines } from "./bench-table.js";
import { cellsOf, padEnd } from "./cell-width.js";
import { candidateLines, changedLines, keptFloatLines } from "./change-lines.js";
import { conditionsText } from "./conditions.js";
import { differenceLines, driftLines, referenceLines } from "./difference-table.js";
import { middle, printable } from "./escape.js";
import { latencyLines } from "./latency-table.js";
import { verdictSentence, verdictWord } from "./limits.js";
import { limitLines } from "./limits-table.js";
import { loadLines } from "./load-table.js";
import { fileNames, modelNames } from "./model-names.js";
import { suggest } from "./next.js";
import { bytes, duration, plural } from "./numbers.js";
import type { Palette } from "./palette.js";
import { paretoLines } from "./pareto-table.js";
import { placementNotes } from "./placement.js";
import { profileLines } from "./profile-table.js";
import { pruningLines } from "./pruning-table.js";
import { requestLines } from "./request-table.js";
import { allInAscii, inAscii, isRoomy, plainSheet, type Sheet } from "./sheet.js";
import { stageText } from "./stage-text.js";
import { sweepLines } from "./sweep-table.js";
import { titled, wrap } from "./table.js";
import { timeLines } from "./time-table.js";

const PROFILE_ROWS = 15;

/** `commandLine`: the command that gave the result, for the suggestion at the end; `rows`: of each table of a profile. */
export function renderText(
  given: RunResult,
  paint: Palette,
  commandLine: string | null = null,
  rows: number = PROFILE_ROWS,
  sheet: Sheet = plainSheet,
): string {
  const result = sheet.isAscii ? allInAscii(given) : given;
  const { bench, profile, request, load, sweep } = result;
  const sections = [
    headLines(result, paint, sheet),
    limitLines(result, paint, sheet),
    accuracyLines(result, sheet),
    ...(profile
      ? profileLines(profile, rows, sheet)
      : [bench ? benchLines(bench, sheet) : latencyLines(result, sheet)]),
    request ? requestLines(request, sheet) : [],
    load ? loadLines(load, sheet) : [],
    sweep ? sweepLines(sweep, sheet) : [],
    bench || profile || load || sweep || request ? [] : sizeLines(result),
    timeLines(result, sheet),
    placementLines(result, sheet),
    keptFloatLines(result, sheet),
    changedLines(result, sheet),
    fixedSizeLines(result, sheet),
    differenceLines(result.difference, sheet),
    result.references ? referenceLines(result.references) : [],
    result.drift ? driftLines(result.drift) : [],
    result.layers ? layerLines(result.layers, sheet) : [],
    result.pruning ? pruningLines(result.pruning, sheet) : [],
    paretoLines(result.pareto ?? []),
    candidateLines(result, sheet),
    warningLines(result, paint, sheet),
    closingLines(result, paint, commandLine, sheet),
  ];
  const blocks = sections.filter((lines) => lines.length > 0).map((lines) => lines.map((line) => ` ${line}`.trimEnd()));
  const text = `${blocks.map((lines) => lines.join("\n")).join("\n\n")}\n`;
  // Of our own words only a unit is beyond ASCII.
  return sheet.isAscii ? inAscii(text.replaceAll("°", "")) : text;
}

function headLines(result: RunResult, paint: Palette, sheet: Sheet): string[] {
  const { verdict, model, latency, bench, profile, load, request } = result;
  const output = afterOf(result);
  const color = { pass: paint.good, fail: paint.bad, inconclusive: paint.unsure }[verdict.status];
  const word = verdictWord(result);
  const run = latency ?? bench ?? profile ?? load;
  const where = run ? conditions(run) : request ? `${request.provider}, ${plural(request.threads, "thread")}` : "";
  const files = [model, output].filter((file) => file !== null);
  const told = fileNames([...files, ...(result.baseline ? [result.baseline] : [])]);
  const names = files.map(({ path }) => printable(told.get(path)!));
  const room = sheet.columns - word.length - 4 - (where ? where.length + 3 : 0);
  const title = names.length === 2 ? pair(names[0]!, names[1]!, room) : middle(names[0]!, room);
  return [
    `${color(word)}  ${padEnd(title, room)}${where}`,
    // The table of bench says it all.
    ...(bench ? [] : wrap(printable(verdictSentence(result)), sheet.columns - 2)),
    ...(result.baseline ? [`before is ${printable(told.get(result.baseline.path)!)}`] : []),
  ];
}

/** Each gets half of the room, and what the other does not need. */
function pair(before: string, after: string, room: number): string {
  const half = Math.floor((room - 4) / 2);
  const [first, second] = [cellsOf(before), cellsOf(after)];
  const spare = (other: number): number => Math.max(0, half - other);
  return `${middle(before, half + spare(second))} -> ${middle(after, half + spare(first))}`;
}

const conditions = ({ provider, threads, batch }: Pick<LatencyFacts, "provider" | "threads" | "batch">): string =>
  `${provider}, ${plural(threads, "thread")}, batch ${batch}`;

function placementLines({ placement, operatorTimes, bench }: RunResult, sheet: Sheet): string[] {
  const names = modelNames((bench?.models ?? []).map(({ model }) => model));
  const rows = bench
    ? bench.models.flatMap(({ placement: own }, i) =>
        own ? placementNotes(own).map((note) => ({ ...note, text: `${names[i]!}: ${note.text}` })) : [],
      )
    : placement
      ? placementNotes(placement, operatorTimes)
      : [];
  return rows.flatMap(({ title, text }) => titled(title, printable(text), sheet));
}

function warningLines({ warnings }: RunResult, paint: Palette, sheet: Sheet): string[] {
  return warnings.flatMap((warning) => {
    const [first, ...rest] = wrap(printable(warning), sheet.columns - 11);
    return [`${paint.unsure("warning")}  ${first}`, ...rest.map((line) => `         ${line}`)];
  });
}

function closingLines(result: RunResult, paint: Palette, commandLine: string | null, sheet: Sheet): string[] {
  const { resources, environment, stages } = result;
  const spent = `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}`;
  const measured = result.conditions ? `; ${printable(conditionsText(result.conditions))}` : "";
  const machine = `${printable(environment.cpu)}, onnxruntime ${printable(environment.onnxruntime)}${measured}`;
  const steps = isRoomy(sheet) && stages.length > 1 ? [stageText(stages)] : [];
  const next = suggest(result, commandLine);
  const lines = [`${spent}, ${machine}`, ...steps].flatMap((text) => wrap(text, sheet.columns - 2)).map(paint.faint);
  return next ? [...lines, `next  ${printable(next.command)}`, `      ${paint.faint(`(${next.why})`)}`] : lines;
}
