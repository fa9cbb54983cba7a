/** How far outputs are apart: of two models, and of one model with itself. */
import type { DifferenceFacts, DriftFacts } from "../pipeline/result.js";
import { middle, printable } from "./escape.js";
import { cosineText, plural, significant } from "./numbers.js";
import { columns } from "./table.js";

const MOST_OUTPUTS = 8;

const decibels = (sqnrDb: number | null): string => (sqnrDb === null ? "equal" : significant(sqnrDb));

/** One row an output; what only `verify` looks at has columns there. */
export function differenceLines(difference: readonly DifferenceFacts[]): string[] {
  if (difference.length === 0) return [];
  const shown = difference.slice(0, MOST_OUTPUTS);
  const isDetailed = difference.some(({ argmaxAgreement }) => argmaxAgreement != null);
  const rows = shown.map(({ output, maxAbs, rmse, relativeL2, sqnrDb, cosine, argmaxAgreement }) => [
    middle(printable(output), isDetailed ? 18 : 30),
    significant(maxAbs),
    ...(isDetailed ? [significant(rmse ?? null)] : []),
    significant(relativeL2),
    decibels(sqnrDb),
    cosineText(cosine),
    ...(isDetailed ? [argmaxAgreement == null ? "-" : `${significant(100 * argmaxAgreement)} %`] : []),
  ]);
  const head = isDetailed
    ? ["outputs", "max |diff|", "RMSE", "relative L2", "SQNR dB", "cosine", "same top1"]
    : ["outputs", "max |diff|", "relative L2", "SQNR dB", "cosine"];
  const table = columns([head, ...rows], ["left", ...head.slice(1).map(() => "right" as const)]);
  const left = difference.length - shown.length;
  return left > 0 ? [...table, `and ${plural(left, "output")} more`] : table;
}

/** Of each comparison the output that is furthest apart. */
export function driftLines({ asWritten, baseline, candidate }: DriftFacts): string[] {
  const row = (title: string, all: readonly DifferenceFacts[]): string[] => {
    const least = (facts: DifferenceFacts): number => facts.sqnrDb ?? Number.POSITIVE_INFINITY;
    const worst = all.reduce<DifferenceFacts | null>(
      (found, each) => (found === null || least(each) < least(found) ? each : found),
      null,
    );
    if (!worst) return [title, "-", "-", "-"];
    return [title, middle(printable(worst.output), 18), significant(worst.maxAbs), decibels(worst.sqnrDb)];
  };
  return columns(
    [
      ["the runtime's share", "worst output", "max |diff|", "SQNR dB"],
      row("both models as written", asWritten),
      row("before, optimizer off and on", baseline),
      row("after, optimizer off and on", candidate),
    ],
    ["left", "left", "right", "right"],
  );
}
