/** What pruning left of each group, which layers could not be fitted, and the nets that no other exceeds. */
import type { PruningFacts, RecoveryFacts } from "../pipeline/prune/pruning-facts.js";
import type { SparsityFacts } from "../pipeline/prune/sparsity-facts.js";
import { middles, printable } from "./escape.js";
import { bytes, count, percent, plural, ratio, score, significant } from "./numbers.js";
import { byReason } from "./reasons.js";
import type { Sheet } from "./sheet.js";
import { columns, wrap } from "./table.js";

const MOST_ROWS = 12;

export function pruningLines(facts: PruningFacts, sheet: Sheet): string[] {
  const { groups, fitted, unfitted, recovery, pareto, sparsity } = facts;
  if (sparsity) return sparsityLines(sparsity, facts, sheet);
  const narrowed = groups.filter(({ width, kept }) => kept < width);
  const names = middles(
    narrowed.map(({ group }) => printable(group)),
    40,
  );
  const rows = narrowed.map(({ kind, width, kept }, i) => [`  ${names[i]}`, kind, count(width), count(kept)]);
  const table = columns(
    [["pruned", "", "before", "after"], ...rows.slice(0, MOST_ROWS)],
    ["left", "left", "right", "right"],
  );
  const left = rows.length - MOST_ROWS;
  return [
    ...table,
    ...(left > 0 ? [`  and ${plural(left, "more group")} in the JSON result`] : []),
    `  ${plural(fitted.length, "layer")} fitted${unfitted.length > 0 ? `, ${count(unfitted.length)} as ${unfitted.length === 1 ? "it was" : "they were"}` : ""}`,
    ...byReason(unfitted).flatMap(({ reason, nodes }) =>
      wrap(`${printable(reason)}: ${nodes.map(printable).join(", ")}`, sheet.columns - 6).map((line) => `    ${line}`),
    ),
    ...(recovery ? wrap(recoveryText(recovery), sheet.columns - 4).map((line) => `  ${line}`) : []),
    ...(pareto.length > 1
      ? [
          "",
          ...columns(
            [
              ["nets that no other exceeds", "speed", "accuracy", "size"],
              ...pareto.map(({ name, speedup, accuracy, bytes: size }) => [
                `  ${printable(name)}`,
                ratio(speedup),
                score(accuracy),
                bytes(size),
              ]),
            ],
            ["left", "right", "right", "right"],
          ),
        ]
      : []),
  ];
}

function sparsityLines(
  { asked, layers, weights, zeros, dense, compressedBytes }: SparsityFacts,
  facts: PruningFacts,
  sheet: Sheet,
): string[] {
  const { before, after } = compressedBytes;
  const missed = (which: "before" | "after"): number =>
    (100 * facts.fitted.reduce((sum, each) => sum + each[which], 0)) / Math.max(1, facts.fitted.length);
  const lines = [
    `${count(zeros)} of ${count(weights)} weights are 0 (${significant((100 * zeros) / Math.max(1, weights))} %), in ${plural(layers, "layer")}`,
    `compressed (gzip)  ${bytes(before)} -> ${bytes(after)}, ${ratio(before / Math.max(1, after))} smaller`,
    ...(facts.fitted.length > 0
      ? [
          `on other samples a layer misses ${significant(missed("after"))} % of what it should make, and ${significant(missed("before"))} % with the smallest weights left out and no others changed`,
        ]
      : []),
    ...byReason([...facts.unfitted, ...dense]).map(
      ({ reason, nodes }) => `${printable(reason)}: ${nodes.map(printable).join(", ")}`,
    ),
  ];
  return [
    `zeros  ${printable(asked)}`,
    ...lines.flatMap((line) => wrap(line, sheet.columns - 4).map((each) => `  ${each}`)),
  ];
}

function recoveryText(recovery: RecoveryFacts): string {
  if ("reason" in recovery) return `nothing learned from the original: ${printable(recovery.reason)}`;
  const { step, before, after, blocked } = recovery;
  if (step === 0) return "no step of learning from the original brought it closer on other samples";
  const stopped = blocked.length > 0 ? `; no gradient passes ${plural(blocked.length, "node")}` : "";
  const missed = `${percent(before, 3)} to ${percent(after, 3)}`;
  return `learned from the original in ${plural(step, "step")}: of the variance of its outputs ${missed} are missed on other samples${stopped}`;
}
