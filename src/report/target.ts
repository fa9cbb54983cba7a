/** What a target does not take of a model, for a terminal: nodes with the same reason together. */
import type { InspectedTarget } from "../pipeline/inspect/inspect-target.js";
import { middles, printable } from "./escape.js";
import { plural } from "./numbers.js";
import type { Palette } from "./palette.js";
import { wrap } from "./table.js";

/** Width of the words at the left. */
const INDENT = 12;
/** The JSON has all of them. */
const MOST_NAMED = 6;
type Violation = InspectedTarget["violations"][number];

/** @param width of the text without the indent that the caller adds */
export function targetLines(
  { title, opsets, newestIrVersion, violations }: InspectedTarget,
  paint: Palette,
  width: number,
): string[] {
  const irVersion = newestIrVersion === null ? "" : `, IR up to ${newestIrVersion}`;
  const head = `target      ${title}: opset ${opsets.oldest} to ${opsets.newest}${irVersion}`;
  if (violations.length === 0) return [head, "            nothing stands in the way"];
  const groups = new Map<string, { first: Violation; nodes: string[] }>();
  for (const violation of violations) {
    const { weight, op, reason, advice, node } = violation;
    const key = JSON.stringify([weight, op, reason, advice]);
    const group = groups.get(key) ?? { first: violation, nodes: [] };
    if (node !== null) group.nodes.push(node);
    groups.set(key, group);
  }
  const listed = [...groups.values()];
  return [
    head,
    ...listed.flatMap((group, i) => {
      // Groups with the same way out tell it once, at the end.
      const following = listed[i + 1]?.first;
      const sameNext = following?.weight === group.first.weight && following.advice === group.first.advice;
      return groupLines(group.first, group.nodes, sameNext ? null : group.first.advice, paint, width);
    }),
  ];
}

function groupLines(
  { weight, op, reason, about }: Violation,
  nodes: readonly string[],
  advice: string | null,
  paint: Palette,
  width: number,
): string[] {
  const many = nodes.length > 1 ? ` (${plural(nodes.length, "node")})` : "";
  const subject =
    op === null ? (about === "input" ? plural(nodes.length, "input") : "the model") : printable(op) + many;
  const [line = "", ...rest] = wrap(`${subject}: ${printable(reason)}`, width - INDENT);
  const more = nodes.length > MOST_NAMED ? `, and ${nodes.length - MOST_NAMED} more` : "";
  const named = middles(nodes.slice(0, MOST_NAMED).map(printable), 60).join(", ") + more;
  const below = [
    ...rest,
    ...(named === "" ? [] : wrap(named, width - INDENT).map(paint.faint)),
    ...(advice === null ? [] : wrap(printable(advice), width - INDENT)),
  ];
  const word = weight.padEnd(INDENT);
  return [
    `${weight === "refused" ? paint.unsure(word) : word}${line}`,
    ...below.map((text) => " ".repeat(INDENT) + text),
  ];
}
