/** What pruning left of each group, which layers could not be fitted, and the nets that no other exceeds. */
import type { PruningFacts } from "../pipeline/prune/pruning-facts.js";
import { middle, printable } from "./escape.js";
import { bytes, count, plural, ratio, score } from "./numbers.js";
import { byReason } from "./reasons.js";
import { columns, wrap } from "./table.js";

const WIDTH = 79;
const MOST_ROWS = 12;

export function pruningLines({ groups, fitted, unfitted, pareto }: PruningFacts): string[] {
  const narrowed = groups.filter(({ width, kept }) => kept < width);
  const rows = narrowed.map(({ group, kind, width, kept }) => [
    `  ${middle(printable(group), 40)}`,
    kind,
    count(width),
    count(kept),
  ]);
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
      wrap(`${printable(reason)}: ${nodes.map(printable).join(", ")}`, WIDTH - 5).map((line) => `    ${line}`),
    ),
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
