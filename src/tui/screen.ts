/** What a screen of a report is: text that is scrolled, or a list with a cursor. Pure functions of book and state to lines. */
import type { Book } from "./book.js";
import type { Look } from "./look.js";
import type { ScreenName, State } from "./state.js";

/** Where to draw: below the tabs, above the keys. */
export interface Scene {
  readonly book: Book;
  readonly state: State;
  readonly look: Look;
  readonly width: number;
  readonly height: number;
}

/** A key and what it does here, for the last line and for help. */
export type KeyHint = readonly [key: string, does: string];

/** Of a list that is searched. */
export const searchKeys: readonly KeyHint[] = [
  ["/", "filter"],
  ["enter", "detail"],
];

export type Effect =
  | { readonly type: "quit" }
  | { readonly type: "write"; readonly path: string; readonly text: string };

export interface Outcome {
  readonly state: State;
  readonly effect?: Effect;
}

interface AnyScreen {
  readonly name: ScreenName;
  /** On its tab. */
  readonly title: string;
  /** A paragraph for help. */
  readonly about: string;
  /** Of its own, that do something here and now; the first are shown where there is little room. */
  readonly keys: (book: Book, state: State) => readonly KeyHint[];
  /** Keys of its own; null for those that are not. */
  readonly press?: (key: string, book: Book, state: State) => Outcome | null;
}

export interface TextScreen extends AnyScreen {
  readonly kind: "text";
  /** All of it; wider or longer than the scene, and it is scrolled. */
  readonly text: (scene: Scene) => readonly string[];
}

export interface ListScreen extends AnyScreen {
  readonly kind: "list";
  readonly hasFilter: boolean;
  /** Rows left by the filter. */
  readonly count: (book: Book, state: State) => number;
  /** Rows seen at once. */
  readonly visible: (scene: Scene) => number;
  /** No more lines than the scene has. */
  readonly body: (scene: Scene) => readonly string[];
  /** Everything about a row; absent: there is no more to it. */
  readonly detail?: (scene: Scene, row: number) => readonly string[];
}

export type Screen = TextScreen | ListScreen;
