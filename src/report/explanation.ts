/** Why passes fired or declined, and why nodes stay float: every group of nodes with its reason. */
import type { Explanation } from "../pipeline/explain.js";
import { middle, printable } from "./escape.js";
import { count } from "./numbers.js";
import type { Palette } from "./palette.js";
import { byReason, type ReasonGroup } from "./reasons.js";
import { wrap } from "./table.js";

const WIDTH = 79;

export function renderExplanation({ path, passes, float, notes }: Explanation, paint: Palette): string {
  const told = passes.filter(
    ({ applied, skipped, rejected }) => applied > 0 || skipped.length > 0 || rejected !== undefined,
  );
  const blocks = [
    [paint.strong(printable(path)), ...notes.flatMap((note) => wrap(printable(note), WIDTH))],
    ...told.map(({ name, applied, skipped, rejected }) => [
      `${paint.strong(name)}  ${applied > 0 ? `applied ${count(applied)}x` : "not applied"}`,
      ...(rejected === undefined ? [] : wrap(`undone: ${printable(rejected)}`, WIDTH - 2).map((line) => `  ${line}`)),
      ...byReason(skipped).flatMap(group),
    ]),
    ...(float.length === 0 ? [] : [[paint.strong("kept in float"), ...byReason(float).flatMap(group)]]),
  ];
  if (told.length === 0 && float.length === 0) blocks.push(["no pass found anything to do, and nothing stays float"]);
  return `${blocks.map((lines) => lines.map((line) => ` ${line}`.trimEnd()).join("\n")).join("\n\n")}\n`;
}

/** The reason once, then every node: whoever asks for an explanation wants them all. */
function group({ reason, nodes }: ReasonGroup): string[] {
  const [first, ...rest] = wrap(printable(reason), WIDTH - 8);
  return [
    `  ${count(nodes.length).padStart(4)}  ${first}`,
    ...[...rest, ...wrap(nodes.map((node) => middle(printable(node), WIDTH - 8)).join(", "), WIDTH - 8)].map(
      (line) => `        ${line}`,
    ),
  ];
}
