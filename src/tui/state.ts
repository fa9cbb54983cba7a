/** Where a reader of a report is: which screen, which row, what was typed and marked. Plain data; keys make a new one. */
import type { Book } from "./book.js";
import { type LayerOrder, ordersOf } from "./layer-entries.js";

export const screenNames = [
  "summary",
  "layers",
  "latency",
  "candidates",
  "calibration",
  "decisions",
  "environment",
] as const;
export type ScreenName = (typeof screenNames)[number];

/** Of one screen; the others keep theirs. */
export interface Place {
  /** The row, or of text without rows the first line seen. */
  readonly cursor: number;
  readonly top: number;
  /** Columns that text without rows is moved to the left by. */
  readonly shift: number;
  readonly filter: string;
  /** Whether the row is shown in detail; then the first line seen. */
  readonly detail: number | null;
}

export interface State {
  readonly screen: ScreenName;
  readonly places: Readonly<Record<ScreenName, Place>>;
  /** null: not open; else the first line seen. */
  readonly help: number | null;
  /** What was typed of a filter that is not settled yet. */
  readonly typing: string | null;
  readonly order: LayerOrder;
  /** Layers to be kept in float. */
  readonly marked: ReadonlySet<string>;
  readonly chart: "both" | "histogram" | "curve";
  /** A sentence on the last line, until the next key. */
  readonly notice: string | null;
  /** Shown in full until the next key: what was done. */
  readonly message: readonly string[] | null;
}

const start: Place = { cursor: 0, top: 0, shift: 0, filter: "", detail: null };

/** On the first screen, and among the candidates on the one that was taken. */
export const firstState = ({ candidates, layers }: Pick<Book, "candidates" | "layers">): State => ({
  screen: "summary",
  places: {
    ...(Object.fromEntries(screenNames.map((name) => [name, start])) as Record<ScreenName, Place>),
    candidates: {
      ...start,
      cursor: Math.max(
        0,
        candidates.findIndex(({ candidate }) => candidate.chosen),
      ),
    },
  },
  help: null,
  typing: null,
  order: ordersOf(layers)[0] ?? "time",
  marked: new Set(),
  chart: "both",
  notice: null,
  message: null,
});

export const placeOf = ({ screen, places }: State): Place => places[screen];

export const moved = (state: State, place: Partial<Place>): State => ({
  ...state,
  places: { ...state.places, [state.screen]: { ...state.places[state.screen], ...place } },
});
