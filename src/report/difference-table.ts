/** How far outputs are apart: of two models, and of one model with itself. */
import type { DifferenceFacts, DriftFacts, ReferenceFacts } from "../pipeline/result.js";
import { middle, printable } from "./escape.js";
import { cosineText, optional, percent, plural, significant } from "./numbers.js";
import { isRoomy, plainSheet, type Sheet } from "./sheet.js";
import { columns } from "./table.js";

const MOST_OUTPUTS = 8;

const decibels = (sqnrDb: number | null): string => (sqnrDb === null ? "equal" : significant(sqnrDb));

/** One row an output; what only `verify` looks at has columns there. */
export function differenceLines(difference: readonly DifferenceFacts[], sheet: Sheet = plainSheet): string[] {
  if (difference.length === 0) return [];
  const shown = difference.slice(0, MOST_OUTPUTS);
  const isDetailed = difference.some(({ argmaxAgreement }) => argmaxAgreement != null);
  const rows = shown.flatMap(({ output, maxAbs, rmse, relativeL2, sqnrDb, cosine, argmaxAgreement, intervals }) => [
    [
      middle(printable(output), isRoomy(sheet) ? 48 : isDetailed ? 18 : 30),
      significant(maxAbs),
      ...(isDetailed ? [significant(rmse ?? null)] : []),
      significant(relativeL2),
      decibels(sqnrDb),
      cosineText(cosine),
      ...(isDetailed ? [optional(argmaxAgreement, (share) => percent(share, 3))] : []),
    ],
    ...(isDetailed && intervals ? intervalRows(intervals) : []),
  ]);
  const samples = difference.find((each) => each.samples !== undefined)?.samples;
  // The metric is a mean of samples, and another number.
  const title = `outputs, ${samples === undefined ? "" : `${plural(samples, "sample")} `}pooled`;
  const head = isDetailed
    ? [title, "max |diff|", "RMSE", "relative L2", "SQNR dB", "cosine", "same top1"]
    : [title, "max |diff|", "relative L2", "SQNR dB", "cosine"];
  const table = columns([head, ...rows], ["left", ...head.slice(1).map(() => "right" as const)]);
  const left = difference.length - shown.length;
  return left > 0 ? [...table, `and ${plural(left, "output")} more`] : table;
}

/** Under an output: from where to where its figures lie, as far as samples tell. */
function intervalRows({
  rmse,
  sqnrDb,
  cosine,
  argmaxAgreement,
}: NonNullable<DifferenceFacts["intervals"]>): string[][] {
  return (["  95 % from", "  to"] as const).map((title, end) => [
    ...[title, "", significant(rmse[end]!), "", decibels(sqnrDb[end] ?? null), cosineText(cosine[end]!)],
    argmaxAgreement === null ? "-" : percent(argmaxAgreement[end]!, 3),
  ]);
}

export const driftLines = ({ asWritten, baseline, candidate }: DriftFacts): string[] =>
  worstOutputs("the runtime's share", [
    ["both models as written", asWritten],
    ["before, optimizer off and on", baseline],
    ["after, optimizer off and on", candidate],
  ]);

export const referenceLines = ({ baseline, candidate }: ReferenceFacts): string[] =>
  worstOutputs("from the outputs of the data", [
    ["before", baseline],
    ["after", candidate],
  ]);

/** Of each comparison the output that is furthest apart. */
function worstOutputs(title: string, rows: readonly (readonly [string, readonly DifferenceFacts[]])[]): string[] {
  const row = ([name, all]: (typeof rows)[number]): string[] => {
    const least = (facts: DifferenceFacts): number => facts.sqnrDb ?? Number.POSITIVE_INFINITY;
    const worst = all.reduce<DifferenceFacts | null>(
      (found, each) => (found === null || least(each) < least(found) ? each : found),
      null,
    );
    if (!worst) return [name, "-", "-", "-"];
    return [name, middle(printable(worst.output), 18), significant(worst.maxAbs), decibels(worst.sqnrDb)];
  };
  return columns(
    [[title, "worst output", "max |diff|", "SQNR dB"], ...rows.map(row)],
    ["left", "left", "right", "right"],
  );
}
