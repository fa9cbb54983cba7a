/**
 * The result as a comment on a pull request: the verdict in the first line, one table,
 * one sentence to act on, the rest folded away.
 */
import { basename } from "node:path";
import type { RunResult } from "../pipeline/result.js";
import { subjectOf } from "../pipeline/sides.js";
import { conditionsText } from "./conditions.js";
import { markdownCode, markdownText } from "./escape.js";
import { verdictSentence, verdictWord } from "./limits.js";
import { candidatesTable, changesText, fixedSizesTable, keptFloatTable, prunedTable } from "./markdown-changes.js";
import {
  benchTable,
  differencesTable,
  limitsInWords,
  limitsTable,
  loadTable,
  numbersTable,
  placementTable,
  profileTables,
  requestTable,
  sweepTable,
} from "./markdown-measured.js";
import { bullets, codeCell, folded } from "./markdown-table.js";
import { suggest } from "./next.js";
import { bytes, duration, plural } from "./numbers.js";

/** Platforms refuse comments above 65,536 characters. */
const MOST_CHARACTERS = 60_000;

/** `commandLine`: the command that gave the result. */
export function renderMarkdown(result: RunResult, commandLine: string | null = null): string {
  // The first that there is tells the most; the others go with the rest.
  const [main, ...others] = (
    [
      ["Limits", limitsTable(result)],
      result.bench ? ["Models", benchTable(result)] : ["Before and after", numbersTable(result)],
      ["Load", loadTable(result)],
      ["Settings", sweepTable(result)],
      ["Stages of a request", requestTable(result)],
      ["Where the time goes", profileTables(result)],
    ] as const
  ).filter(([, body]) => body !== "");
  const { warnings } = result;
  const sections = [
    headline(result),
    main?.[1] ?? "",
    action(result, commandLine),
    folded(plural(warnings.length, "warning"), bullets(warnings)),
    ...others.map(([title, body]) => folded(title, body)),
    folded("Limits in words", limitsInWords(result)),
    folded("Fixed sizes", fixedSizesTable(result)),
    folded("What changed", changesText(result)),
    folded("Kept in float", keptFloatTable(result)),
    folded("Narrowed", prunedTable(result)),
    result.profile ? "" : folded("Where the time goes", placementTable(result)),
    folded("Candidates", candidatesTable(result)),
    folded("Outputs, before and after", differencesTable(result)),
    folded("Environment and command", environment(result, commandLine)),
  ].filter((section) => section !== "");
  const shown: string[] = [];
  let room = MOST_CHARACTERS;
  while (shown.length < sections.length && sections[shown.length]!.length < room) {
    const section = sections[shown.length]!;
    shown.push(section);
    room -= section.length + 1;
  }
  const left = sections.length - shown.length;
  if (left > 0) shown.push(`${plural(left, "section")} left out: too long for a comment.\n`);
  return `${shown.join("\n")}\n${marker(result)}\n`;
}

function headline(result: RunResult): string {
  const { latency } = result;
  const where = latency ? ` on ${markdownText(latency.provider)}, ${plural(latency.threads, "thread")}` : "";
  const verdict = `### infer-opt: **${verdictWord(result)}** ${codeCell(basename(subjectOf(result).path))}${where}`;
  return `${verdict}\n\n${markdownText(verdictSentence(result))}\n`;
}

/** Finds the comment again, to replace it: a name in it must not end the HTML comment. */
function marker(result: RunResult): string {
  const name = subjectOf(result)
    .path.replace(/[^\w./-]/g, "_")
    .replace(/--+/g, "-")
    .slice(-MOST_NAMED);
  return `<!-- infer-opt:${name}@${(result.latency?.provider ?? "any").replace(/\W/g, "_")} -->`;
}

/** Of a path: its end tells it from others. */
const MOST_NAMED = 1000;

function action(result: RunResult, commandLine: string | null): string {
  const next = suggest(result, commandLine);
  return next ? `Next: ${markdownCode(next.command)} (${next.why})\n` : "";
}

function environment(
  { environment, resources, tool, model, conditions }: RunResult,
  commandLine: string | null,
): string {
  const { cpu, flags, cores, platform, node, onnxruntime } = environment;
  const lines = bullets([
    `${cpu} (${plural(cores, "core")}, ${flags.join(" ") || "flags unknown"}), ${platform}`,
    `infer-opt ${tool.version}, Node ${node}, onnxruntime ${onnxruntime}`,
    `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}, input sha256 ${model.sha256}`,
    ...(conditions ? [conditionsText(conditions)] : []),
  ]);
  return commandLine === null ? lines : `${lines}- ${markdownCode(commandLine)}\n`;
}
