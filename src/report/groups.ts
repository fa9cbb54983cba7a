/** Groups of channels for a terminal: what can be narrowed, then what stays and why. */
import type { GroupsShown, ShownGroup } from "../pipeline/explain/show-groups.js";
import { middle, middles, printable } from "./escape.js";
import { count, plural } from "./numbers.js";
import type { Palette } from "./palette.js";
import { columns, wrap } from "./table.js";

const WIDTH = 79;
const NAME = 38;

export function renderGroups({ model, block, groups, notes }: GroupsShown, paint: Palette): string {
  const free = groups.filter(({ frozen }) => frozen === null);
  const frozen = groups.filter((group) => group.frozen !== null);
  const head = [
    paint.strong(printable(model.path)),
    ...wrap(
      `${plural(groups.length, "group")}, ${count(free.length)} of which can be narrowed; convolutions work on ${block} channels at once`,
      WIDTH,
    ),
    ...notes.flatMap((note) => wrap(printable(note), WIDTH)),
  ];
  const blocks = [
    head,
    free.length === 0 ? [] : [paint.strong("can be narrowed"), ...table(free)],
    frozen.length === 0 ? [] : [paint.strong("stay as they are"), ...frozen.flatMap(stays)],
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.map((line) => ` ${line}`.trimEnd()).join("\n")).join("\n\n")}\n`;
}

function table(groups: readonly ShownGroup[]): string[] {
  const names = middles(
    groups.map(({ name }) => printable(name)),
    NAME,
  );
  const rows = groups.map(({ kind, width, unitSize, producers, consumers, widths }, i) => [
    names[i]!,
    count(width),
    unitSize > 1 ? `${kind} of ${unitSize}` : kind,
    `${plural(producers.length, "node")} to ${count(consumers.length)}`,
    stepOf(widths),
  ]);
  const title = ["made by", "width", "", "made and read by", "steps"];
  return columns([title, ...rows], ["left", "right", "left", "left", "left"]).map((line) => `  ${line}`);
}

/** The widths next to the own one. */
const stepOf = (widths: readonly number[]): string =>
  `${widths.slice(1, 4).join(", ")}${widths.length > 4 ? ", ..." : ""}`;

function stays({ name, kind, width, frozen }: ShownGroup): string[] {
  const one = width === 1 ? kind.replace(/s$/, "") : kind;
  const about = `${count(width)} ${one} of ${middle(printable(name), NAME)}`;
  return [`  ${about}`, ...wrap(printable(frozen!), WIDTH - 6).map((line) => `      ${line}`)];
}
