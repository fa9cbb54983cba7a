/** Every key, and what the open screen shows. */
import { padRight } from "../cells.js";
import type { KeyHint, Screen } from "../screen.js";
import type { State } from "../state.js";
import { paragraph } from "./rows.js";

const everywhereKeys: readonly KeyHint[] = [
  ["1-7, tab", "go to a screen; shift-tab goes back"],
  ["up, down, j, k", "one row"],
  ["page up, page down, space, b", "one page"],
  ["home, end, g, G", "first and last row"],
  ["left, right", "text that is wider than the terminal"],
  ["enter", "everything about a row; escape or enter closes it"],
  ["/", "filter; enter keeps it, escape takes it away"],
  ["?", "this"],
  ["q, ctrl-c", "quit"],
];

const screenKeys: readonly KeyHint[] = [
  ["s", "layers: sort by time, saved time, error or bytes"],
  ["x", "layers: mark to stay in float, or take the mark away"],
  ["w", "layers: write the marked ones to a file, and show the command that uses it"],
  ["v", "latency: another view"],
];

export function helpText({ title, about }: Screen, _state: State, width: number): string[] {
  const row = ([key, does]: KeyHint): string[] => {
    if (width < 60) return [key, ...paragraph(does, width, 4)];
    const [first, ...rest] = paragraph(does, width - 32);
    return [`${padRight(key, 30)}  ${first}`, ...rest.map((line) => `${" ".repeat(32)}${line}`)];
  };
  return [`${title}`, ...paragraph(about, width), "", "Keys", ...[...everywhereKeys, ...screenKeys].flatMap(row)];
}
