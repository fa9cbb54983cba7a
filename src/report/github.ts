/**
 * The verdict where GitHub's pages show it: workflow commands, which become annotations of the run
 * (docs.github.com, "Workflow commands for GitHub Actions").
 */
import { basename } from "node:path";
import type { RunResult } from "../pipeline/result.js";
import { subjectOf } from "../pipeline/sides.js";
import { printable } from "./escape.js";
import { limitRows, verdictSentence, verdictWord } from "./limits.js";

/** GitHub shows ten of each kind in a step. */
const MOST_WARNINGS = 5;

/** One command a line: an error for each limit that is missed or undecided, or for a verdict without any; warnings; a notice of what passed. */
export function renderAnnotations(result: RunResult): string {
  const { command, verdict, warnings } = result;
  const subject = basename(subjectOf(result).path);
  const title = (what: string): string => `infer-opt ${command}: ${what} (${subject})`;
  const open = limitRows(result).filter(({ status }) => status !== "met");
  const isPass = verdict.outcome === "met";
  const lines = isPass
    ? [annotation("notice", title(verdictWord(result)), verdictSentence(result))]
    : open.length > 0
      ? open.map(({ limit, status, text }) => annotation("error", title(`${limit} ${status}`), text))
      : [annotation("error", title(verdictWord(result)), verdictSentence(result))];
  const told = warnings.slice(0, MOST_WARNINGS).map((warning) => annotation("warning", title("warning"), warning));
  return [...lines, ...told].map((line) => `${line}\n`).join("");
}

const annotation = (level: "error" | "warning" | "notice", title: string, text: string): string =>
  `::${level} title=${property(title)}::${data(text)}`;

const data = (text: string): string => printable(text).replaceAll("%", "%25");

/** In a title, colons and commas end it. */
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
