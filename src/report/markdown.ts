/**
 * The result as a comment on a pull request: the verdict in the first line, one table,
 * one sentence to act on, the rest folded away.
 */
import { basename } from "node:path";
import type { ProfileFacts } from "../pipeline/profile/profile-facts.js";
import type { Percentiles, RunResult } from "../pipeline/result.js";
import { afterOf, beforeOf, subjectOf } from "../pipeline/sides.js";
import type { RequestFacts } from "../pipeline/stages/request-facts.js";
import { conditionsText } from "./conditions.js";
import { markdownCode, markdownText } from "./escape.js";
import { formsText, integersText } from "./forms-text.js";
import { limitRows, verdictSummary, verdictWord } from "./limits.js";
import { suggest } from "./next.js";
import {
  bytes,
  change,
  cosineText,
  count,
  duration,
  interval,
  milliseconds,
  optional,
  percent,
  percentileCells,
  percentileHeads,
  percentileRows,
  percentOf,
  plural,
  ratio,
  score,
  significant,
} from "./numbers.js";
import { placementNotes, timeShare } from "./placement.js";
import { byReason } from "./reasons.js";
import { requestNotes } from "./request-table.js";
import { shapeRows } from "./shapes.js";

/** Platforms refuse comments above 65,536 characters. */
const MOST_CHARACTERS = 60_000;
const MOST_ROWS = 30;

/** `commandLine`: the command that gave the result. */
export function renderMarkdown(result: RunResult, commandLine: string | null = null): string {
  const sections = [
    headline(result),
    limits(result),
    action(result, commandLine),
    numbers(result),
    result.request ? requestStages(result.request) : "",
    warnings(result),
    folded("Fixed sizes", fixedSizes(result)),
    folded("What changed", changes(result)),
    folded("Kept in float", keptFloat(result)),
    folded("Where the time goes", result.profile ? profile(result.profile) : placement(result)),
    folded("Candidates", candidates(result)),
    folded("Outputs, before and after", differences(result)),
    folded("Environment and command", environment(result, commandLine)),
  ].filter((section) => section !== "");
  let text = "";
  for (const [i, section] of sections.entries()) {
    if (text.length + section.length > MOST_CHARACTERS) {
      return `${text}\n${plural(sections.length - i, "section")} left out: too long for a comment.\n`;
    }
    text += i === 0 ? section : `\n${section}`;
  }
  return text;
}

function headline(result: RunResult): string {
  const { latency } = result;
  const summary = verdictSummary(result);
  const subject = subjectOf(result);
  const where = latency ? ` on ${markdownText(latency.provider)}, ${plural(latency.threads, "thread")}` : "";
  // Finds the comment again, to replace it: a name in it must not end the HTML comment.
  const name = subject.path.replace(/[^\w./-]/g, "_").replace(/--+/g, "-");
  const marker = `${name}@${(latency?.provider ?? "any").replace(/\W/g, "_")}`;
  return [
    `<!-- infer-opt:${marker} -->`,
    `### infer-opt: **${verdictWord(result)}** ${markdownCode(basename(subject.path))}${where}`,
    "",
    ...(summary === null ? [] : [markdownText(summary), ""]),
  ].join("\n");
}

function limits(result: RunResult): string {
  const rows = limitRows(result);
  if (rows.length === 0) return "";
  return table(
    ["limit", "", "result"],
    ["l", "l", "l"],
    rows.map(({ limit, text, status }) => [limit, status === "met" ? status : `**${status}**`, markdownText(text)]),
  );
}

function action(result: RunResult, commandLine: string | null): string {
  const next = suggest(result, commandLine);
  return next ? `Next: ${markdownCode(next.command)} (${next.why})\n` : "";
}

function numbers(result: RunResult): string {
  const { accuracy, latency } = result;
  const [before, after] = [beforeOf(result), afterOf(result)];
  const rows: string[][] = [];
  if (accuracy) {
    const { metric, kind, samples, baseline, candidate, delta, deltaInterval } = accuracy;
    const note = `${change(delta)} (${interval(deltaInterval, change)}), n = ${count(samples)}, ${kind}`;
    rows.push([markdownText(metric), score(baseline), score(candidate), note]);
  }
  if (latency) {
    const { baseline, candidate, speedup, speedupInterval, runs } = latency;
    const note = `${ratio(speedup)} (${interval(speedupInterval, ratio)}), ${plural(runs, "run")}`;
    rows.push(...percentileRows(baseline, candidate).map((row, i) => [...row, i === 0 ? note : ""]));
  }
  if (after) {
    rows.push(["size", bytes(before.bytes), bytes(after.bytes), ratio(before.bytes / Math.max(1, after.bytes))]);
    rows.push(["nodes", count(before.nodes), count(after.nodes), ""]);
  }
  return rows.length === 0 ? "" : table(["", "before", "after", ""], ["l", "r", "r", "l"], rows);
}

const warnings = ({ warnings }: RunResult): string =>
  warnings.map((warning) => `- Warning: ${markdownText(warning)}\n`).join("");

function changes({ passes, quantization, precision }: RunResult): string {
  const rows = passes
    .filter(({ applied, rejected }) => applied > 0 || rejected !== undefined)
    .map(({ name, applied, rejected }) => [
      markdownCode(name),
      count(applied),
      rejected === undefined ? "" : `undone: ${markdownText(rejected)}`,
    ]);
  const parts = rows.length > 0 ? [table(["pass", "applied", ""], ["l", "r", "l"], rows)] : [];
  if (quantization) {
    const { mode, bits, method, nodes, why, notes } = quantization;
    const how = method ? `, ${markdownText(method)} ranges` : "";
    const forms = formsText(quantization);
    const what = `${plural(nodes, "node")} on integers${forms ? ` (${markdownText(forms)})` : ""}`;
    parts.push(`${mode} INT${bits ?? 8}${how}: ${what}. ${markdownText(why)}\n`);
    parts.push(...integersText(quantization).map((line) => `- ${markdownText(line)}\n`));
    parts.push(...notes.map((note) => `- ${markdownText(note)}\n`));
  }
  if (precision) parts.push(`${precision.target}\n`, ...precision.notes.map((note) => `- ${markdownText(note)}\n`));
  return parts.join("\n");
}

function fixedSizes(result: RunResult): string {
  const rows = shapeRows(result);
  if (rows.length === 0) return "";
  return table(
    ["", "name", "before", "after"],
    ["l", "l", "l", "l"],
    rows.map(({ port, name, before, after }) => [port, markdownCode(name), markdownCode(before), markdownCode(after)]),
  );
}

function keptFloat({ quantization, precision }: RunResult): string {
  const groups = byReason([...(quantization?.float ?? []), ...(precision?.float ?? [])]);
  if (groups.length === 0) return "";
  return table(
    ["nodes", "reason", "for example"],
    ["r", "l", "l"],
    groups.map(({ reason, nodes }) => [
      count(nodes.length),
      markdownText(reason),
      nodes.slice(0, 3).map(markdownCode).join(", "),
    ]),
  );
}

function placement({ placement }: RunResult): string {
  if (!placement) return "";
  const rows = placement.operators.map(({ op, provider, nodes, durationMs }) => [
    markdownCode(op),
    markdownText(provider),
    count(nodes),
    timeShare(durationMs, placement),
  ]);
  const notes = placementNotes(placement).map(({ title, text }) => `- ${title}: ${markdownText(text)}\n`);
  return `${table(["operator", "provider", "nodes", "time"], ["l", "l", "r", "r"], rows)}${notes.length > 0 ? "\n" : ""}${notes.join("")}`;
}

function requestStages(request: RequestFacts): string {
  const row = (name: string, share: string, times: Percentiles): string[] => [name, share, ...percentileCells(times)];
  const rows = request.stages.map((stage) =>
    row(markdownText(stage.name), `${percent(stage.share)} (${interval(stage.shareInterval, percent)})`, stage),
  );
  const [p50, ...tail] = percentileHeads;
  const heads = ["stage", "share", `${p50} ms`, ...tail];
  const notes = requestNotes(request).map((note) => `- ${markdownText(note)}\n`);
  return `${table(heads, ["l", "r", "r", "r", "r", "r", "r"], [...rows, row("in total", "", request.total)])}\n${notes.join("")}`;
}

const MOST_OPERATORS = 15;

function profile({ models }: ProfileFacts): string {
  return models
    .map(({ model, operators, nodesMs }) => {
      const rows = operators.slice(0, MOST_OPERATORS).map(({ op, provider, nodes, ms }) => {
        const part = percentOf(ms, nodesMs);
        return [markdownCode(op), markdownText(provider), count(nodes), milliseconds(ms), part];
      });
      const heading = ["operator", "provider", "nodes", "ms", "time"];
      return `${markdownCode(basename(model.path))}\n\n${table(heading, ["l", "l", "r", "r", "r"], rows)}`;
    })
    .join("\n");
}

function candidates({ candidates }: RunResult): string {
  if (candidates.length === 0) return "";
  return table(
    ["candidate", "speed", "accuracy", "SQNR dB", "size", "float nodes", ""],
    ["l", "r", "r", "r", "r", "r", "l"],
    candidates.map((candidate) => [
      candidate.chosen ? `**${markdownText(candidate.name)}**` : markdownText(candidate.name),
      optional(candidate.speedup, ratio),
      optional(candidate.accuracy, score),
      optional(candidate.sqnrDb, significant),
      bytes(candidate.bytes),
      count(candidate.floatNodes),
      markdownText(candidate.reason),
    ]),
  );
}

function differences({ difference }: RunResult): string {
  if (difference.length === 0) return "";
  return table(
    ["output", "max abs", "relative L2", "SQNR dB", "cosine"],
    ["l", "r", "r", "r", "r"],
    difference.map(({ output, maxAbs, relativeL2, sqnrDb, cosine }) => [
      markdownCode(output),
      significant(maxAbs),
      significant(relativeL2),
      sqnrDb === null ? "equal" : significant(sqnrDb),
      cosineText(cosine),
    ]),
  );
}

function environment(
  { environment, resources, tool, model, conditions }: RunResult,
  commandLine: string | null,
): string {
  const { cpu, flags, cores, platform, node, onnxruntime } = environment;
  const lines = [
    `${cpu} (${plural(cores, "core")}, ${flags.join(" ") || "flags unknown"}), ${platform}`,
    `infer-opt ${tool.version}, Node ${node}, onnxruntime ${onnxruntime}`,
    `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}, input sha256 ${model.sha256}`,
    ...(conditions ? [conditionsText(conditions)] : []),
  ].map((line) => `- ${markdownText(line)}\n`);
  if (commandLine !== null) lines.push(`- ${markdownCode(commandLine)}\n`);
  return lines.join("");
}

const folded = (title: string, body: string): string =>
  body === "" ? "" : `<details><summary>${title}</summary>\n\n${body}\n</details>\n`;

function table(heads: readonly string[], align: readonly ("l" | "r")[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const left = rows.length - MOST_ROWS;
  return [
    line(heads),
    line(align.map((side) => (side === "l" ? "---" : "--:"))),
    ...rows.slice(0, MOST_ROWS).map(line),
    left > 0 ? `\nand ${count(left)} more\n` : "",
  ].join("");
}
