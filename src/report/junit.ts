/**
 * The result as JUnit XML, which every CI server reads: one test case a limit. What is
 * missed or undecided is a failure: `skipped` would look green.
 */
import { basename } from "node:path";
import type { RunResult } from "../pipeline/result.js";
import { subjectOf } from "../pipeline/sides.js";
import { xml } from "./escape.js";
import { limitRows, verdictSentence, verdictWord } from "./limits.js";

export function renderJunit(result: RunResult): string {
  const suite = `infer-opt ${result.command}`;
  const subject = xml(basename(subjectOf(result).path));
  const cases = casesOf(result);
  const failures = cases.filter(({ status }) => status !== "met").length;
  const seconds = (result.resources.wallMs / 1000).toFixed(3);
  const counts = `tests="${cases.length}" failures="${failures}" errors="0" skipped="0" time="${seconds}"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="infer-opt" ${counts}>`,
    `  <testsuite name="${xml(suite)}" ${counts}>`,
    ...cases.flatMap(({ limit, status, text }, i) => {
      // Limits of several models have one name, and servers keep one case of each.
      const before = cases.slice(0, i).filter((each) => each.limit === limit).length;
      const name = before === 0 ? limit : `${limit} (${before + 1})`;
      const open = `    <testcase classname="${subject}" name="${xml(name)}"`;
      if (status === "met") return [`${open}/>`];
      return [
        `${open}>`,
        `      <failure type="${status}" message="${xml(text)}">${xml(text)}</failure>`,
        "    </testcase>",
      ];
    }),
    `    <system-out>${xml(`${verdictWord(result)}: ${verdictSentence(result)}`)}</system-out>`,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** The limits; and the outcome itself where it says more than they do. */
function casesOf(result: RunResult): ReturnType<typeof limitRows> {
  const rows = limitRows(result);
  const { outcome, summary } = result.verdict;
  const told = rows.some(({ status }) => status !== "met");
  if (told && rows.length > 0) return rows;
  const status = outcome === "met" ? "met" : outcome === "inconclusive" ? "inconclusive" : "missed";
  if (rows.length > 0 && status === "met") return rows;
  return [...rows, { limit: "outcome", status, text: summary, figures: null }];
}
