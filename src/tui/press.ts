/** What a key does: from a state to the next, and what is to be done outside. Pure. */
import type { Book } from "./book.js";
import { type Size, sceneOf, textLength } from "./draw.js";
import { windowTop } from "./list.js";
import type { Look } from "./look.js";
import type { Outcome, Scene } from "./screen.js";
import { screens } from "./screens/index.js";
import { moved, placeOf, type State, screenNames } from "./state.js";

const SHIFT = 8;

export function press(key: string, book: Book, state: State, size: Size, look: Look): Outcome {
  const outcome = answerTo(key, sceneOf(book, state, size, look));
  return { ...outcome, state: settle(book, outcome.state, size, look) };
}

/** Cursors within what there is, and the rows around them in sight: after a key, and after the terminal changed its size. */
export function settle(book: Book, state: State, size: Size, look: Look): State {
  const scene = sceneOf(book, state, size, look);
  const place = placeOf(state);
  const length = textLength(scene);
  const last = length === null ? 0 : Math.max(0, length - scene.height);
  if (state.help !== null) return { ...state, help: within(state.help, last) };
  const screen = screens[state.screen];
  if (screen.kind === "text") return moved(state, { cursor: within(place.cursor, last) });
  const count = screen.count(book, state);
  const cursor = within(place.cursor, count - 1);
  const top = windowTop(place.top, cursor, Math.max(1, screen.visible(scene)), count);
  return moved(state, { cursor, top, detail: place.detail === null ? null : within(place.detail, last) });
}

const within = (value: number, last: number): number => Math.max(0, Math.min(value, last));

function answerTo(key: string, scene: Scene): Outcome {
  const { book } = scene;
  const isFresh = scene.state.notice === null && scene.state.message === null;
  const state: State = { ...scene.state, notice: null, message: null };
  if (key === "ctrl-c" || key === "ctrl-d") return { state, effect: { type: "quit" } };
  if (state.typing !== null) return { state: typed(key, state) };
  if (scene.state.message !== null) return { state };
  if (key === "q") return { state, effect: { type: "quit" } };
  if (state.help !== null) return { state: scrolledHelp(key, state, scene) };
  if (key === "?") return { state: { ...state, help: 0 } };

  const number = /^[1-7]$/.test(key) ? Number(key) - 1 : -1;
  if (number >= 0) return { state: { ...state, screen: screenNames[number]! } };
  if (key === "tab" || key === "shift-tab") {
    const step = key === "tab" ? 1 : screenNames.length - 1;
    const at = (screenNames.indexOf(state.screen) + step) % screenNames.length;
    return { state: { ...state, screen: screenNames[at]! } };
  }
  const screen = screens[state.screen];
  const place = placeOf(state);
  if (place.detail === null) {
    const own = screen.press?.(key, book, state);
    if (own) return own;
  }
  if (key === "/" && screen.kind === "list" && screen.hasFilter) {
    return { state: { ...moved(state, { detail: null }), typing: place.filter } };
  }
  if (key === "enter" && screen.kind === "list" && screen.detail && screen.count(book, state) > 0) {
    return { state: moved(state, { detail: place.detail === null ? 0 : null }) };
  }
  if (key === "escape") {
    if (place.detail !== null) return { state: moved(state, { detail: null }) };
    return { state: isFresh ? moved(state, { filter: "", shift: 0 }) : state };
  }
  return { state: scrolledPlace(key, state, scene) };
}

/** Rows to go, for keys that go through rows. */
function steps(key: string, page: number): number | null {
  switch (key) {
    case "up":
    case "k":
      return -1;
    case "down":
    case "j":
      return 1;
    case "pageup":
    case "b":
      return -page;
    case "pagedown":
    case " ":
      return page;
    case "home":
    case "g":
      return Number.NEGATIVE_INFINITY;
    case "end":
    case "G":
      return Number.MAX_SAFE_INTEGER;
    default:
      return null;
  }
}

function scrolledHelp(key: string, state: State, { height }: Scene): State {
  const step = steps(key, height);
  if (step !== null) return { ...state, help: Math.max(0, state.help! + step) };
  return { ...state, help: null };
}

function scrolledPlace(key: string, state: State, scene: Scene): State {
  const screen = screens[state.screen];
  const place = placeOf(state);
  const isText = screen.kind === "text";
  const page = Math.max(1, isText || place.detail !== null ? scene.height - 1 : screen.visible(scene) - 1);
  const step = steps(key, page);
  if (step !== null) {
    return place.detail !== null
      ? moved(state, { detail: Math.max(0, place.detail + step) })
      : moved(state, { cursor: Math.max(0, place.cursor + step) });
  }
  if (isText && (key === "left" || key === "right")) {
    return moved(state, { shift: Math.max(0, place.shift + (key === "left" ? -SHIFT : SHIFT)) });
  }
  return state;
}

function typed(key: string, state: State): State {
  const typing = state.typing!;
  switch (key) {
    case "enter":
      return { ...state, typing: null };
    case "escape":
      return { ...moved(state, { filter: "" }), typing: null };
    case "backspace":
      return filtered(state, [...typing].slice(0, -1).join(""));
    default:
      return key.length > 1 && /^[a-z-]+$/.test(key) && isName(key) ? state : filtered(state, typing + key);
  }
}

/** Rows follow what is typed. */
const filtered = (state: State, typing: string): State => ({
  ...moved(state, { filter: typing, cursor: 0, top: 0 }),
  typing,
});

const names = new Set(["up", "down", "left", "right", "pageup", "pagedown", "home", "end", "tab", "shift-tab"]);
const isName = (key: string): boolean => names.has(key) || key.startsWith("ctrl-");
