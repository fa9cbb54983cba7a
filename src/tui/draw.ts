/** The whole frame of a report: title, tabs, the open screen, and keys. A pure function; never more lines than the terminal has. */
import { afterOf } from "../pipeline/sides.js";
import { printable } from "../report/escape.js";
import { verdictWord } from "../report/limits.js";
import { fileNames } from "../report/model-names.js";
import type { Book } from "./book.js";
import { clip, padRight, shorten, widthOf } from "./cells.js";
import type { Look } from "./look.js";
import type { Scene } from "./screen.js";
import { helpText } from "./screens/help.js";
import { screens } from "./screens/index.js";
import { paragraph } from "./screens/rows.js";
import { placeOf, type State, screenNames } from "./state.js";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Lines that are not the screen's own: title and tabs above, keys below. */
const AROUND = 3;
/** From here on there is room for an empty line below the tabs. */
const AIRY_FROM = 20;

export function sceneOf(book: Book, state: State, { columns, rows }: Size, look: Look): Scene {
  const air = rows >= AIRY_FROM ? 2 : 0;
  return { book, state, look, width: Math.max(8, columns - 2), height: Math.max(1, rows - AROUND - air) };
}

/** One line for each row of the terminal. */
export function draw(book: Book, state: State, size: Size, look: Look): string[] {
  const scene = sceneOf(book, state, size, look);
  const air = size.rows >= AIRY_FROM ? [""] : [];
  const body = windowOf(scene);
  const filled = [...body, ...Array.from({ length: Math.max(0, scene.height - body.length) }, () => "")];
  const inset = (line: string): string => (line === "" ? "" : ` ${line}`);
  const lines = [
    inset(titleLine(book, scene)),
    tabLine(scene, size.columns),
    ...[...air, ...filled.slice(0, scene.height), ...air, footLine(scene)].map(inset),
  ].map((line) => clip(line, size.columns));
  return lines.slice(-size.rows);
}

function titleLine({ result }: Book, { look, width }: Scene): string {
  const { verdict, model, latency, command } = result;
  const paint = { pass: look.good, fail: look.bad, inconclusive: look.unsure }[verdict.status];
  const after = afterOf(result);
  const where = latency ? `${latency.provider}, ${latency.threads} thr, batch ${latency.batch}` : command;
  const word = verdictWord(result);
  const right = width >= 60 ? where : "";
  const room = width - word.length - 2 - (right ? right.length + 2 : 0);
  const models = [model, ...(after ? [after] : [])];
  const files = fileNames(models);
  const names = models.map(({ path }) => printable(files.get(path)!));
  const each = Math.floor((room - 4) / 2);
  const title = names.length === 2 ? names.map((name) => shorten(name, each)).join(" -> ") : shorten(names[0]!, room);
  return `${paint(word)}  ${padRight(title, room)}${right ? `  ${look.faint(right)}` : ""}`;
}

/** The open one stands in brackets; where not all titles fit, the others are numbers. */
function tabLine({ state, look }: Scene, columns: number): string {
  const long = screenNames.map((name, i) => `${i + 1} ${screens[name].title}`);
  const all = long.join("").length + 2 * long.length;
  const gap = all + 2 * long.length <= columns ? "  " : "";
  return screenNames
    .map((name, i) => {
      if (name === state.screen) return look.chosen(`[${long[i]}]`);
      return ` ${look.faint(all <= columns ? long[i]! : `${i + 1}`)} `;
    })
    .join(gap);
}

function windowOf(scene: Scene): readonly string[] {
  const { state, width, height } = scene;
  if (state.message) return state.message.flatMap((text) => (text === "" ? [""] : paragraph(text, width)));
  const screen = screens[state.screen];
  if (state.help !== null) return scrolled(helpText(screen, state, width), state.help, height);
  const place = placeOf(state);
  if (screen.kind === "text") {
    const lines = screen.text(scene);
    const shifted = place.shift === 0 ? lines : lines.map((line) => shiftLeft(line, place.shift));
    return scrolled(shifted, place.cursor, height);
  }
  if (place.detail !== null && screen.detail && screen.count(scene.book, state) > 0) {
    return scrolled(screen.detail(scene, place.cursor), place.detail, height);
  }
  return screen.body(scene);
}

const scrolled = (lines: readonly string[], from: number, height: number): readonly string[] =>
  lines.slice(from, from + height);

/** Only text without colours is ever wider than the terminal: tables of the report. */
const shiftLeft = (line: string, by: number): string => (line.includes("\x1b") ? line : line.slice(by));

/** Lines that can be scrolled through: of text, help or details; null where a list is shown. */
export function textLength(scene: Scene): number | null {
  const { state, width, book } = scene;
  const screen = screens[state.screen];
  if (state.help !== null) return helpText(screen, state, width).length;
  if (screen.kind === "text") return screen.text(scene).length;
  const place = placeOf(state);
  return place.detail !== null && screen.detail && screen.count(book, state) > 0
    ? screen.detail(scene, place.cursor).length
    : null;
}

function footLine(scene: Scene): string {
  const { state, look, width } = scene;
  if (state.typing !== null) return `filter: ${printable(state.typing)}_   enter keeps it, escape takes it away`;
  if (state.notice !== null) return state.notice;
  if (state.message) return look.faint("any key goes back");
  const screen = screens[state.screen];
  const place = placeOf(state);
  const isOpen = place.detail !== null || state.help !== null;
  const length = textLength(scene);
  const from = state.help ?? place.detail ?? place.cursor;
  const more =
    length !== null && length > scene.height
      ? `${from + 1}-${Math.min(length, from + scene.height)} of ${length}  `
      : "";
  const keys = isOpen ? [["escape", "back"] as const] : screen.keys(scene.book, state);
  const said = [...keys, ["?", "help"] as const, ["q", "quit"] as const].map(
    ([key, does]) => `${look.strong(key)} ${does}`,
  );
  while (said.length > 2 && widthOf(more + said.join("  ")) > width) said.splice(-3, 1);
  return `${look.faint(more)}${said.join("  ")}`;
}
