/** Reads a report on a terminal until the reader quits: the loop between keys, state and frames. */
import type { RunResult } from "../pipeline/result.js";
import { openBook } from "./book.js";
import { draw } from "./draw.js";
import type { Look } from "./look.js";
import { press, settle } from "./press.js";
import type { Effect } from "./screen.js";
import { firstState, type State } from "./state.js";
import { FullScreen, sizeOf, type Terminal } from "./terminal.js";

export interface Reading {
  readonly result: RunResult;
  /** Of its file, as the user named it. */
  readonly path: string;
  readonly terminal: Terminal;
  readonly look: Look;
  /** Calls back when the program is asked to end; the returned function takes that back. */
  readonly onInterrupt: (handler: () => void) => () => void;
  /** Throws when the file cannot be written. */
  readonly writeFile: (path: string, text: string) => void;
}

/** How it ended. Rejects with what a screen threw, the terminal as it was before. */
export function readReport(reading: Reading): Promise<"quit" | "interrupted"> {
  const { result, path, terminal, look, onInterrupt } = reading;
  const book = openBook(result, path, result.commandLine ?? null);
  let state = firstState(book);
  return new Promise((resolve, reject) => {
    const end = (finish: () => void): void => {
      release();
      screen.close();
      finish();
    };
    const guarded = (work: () => void): void => {
      try {
        work();
      } catch (thrown) {
        end(() => reject(thrown));
      }
    };
    const redraw = (): void => {
      const size = sizeOf(terminal);
      state = settle(book, state, size, look);
      screen.show(draw(book, state, size, look));
    };
    const screen = new FullScreen(terminal, {
      onResize: () => guarded(redraw),
      onKey: (key) =>
        guarded(() => {
          const { state: next, effect } = press(key, book, state, sizeOf(terminal), look);
          state = next;
          if (effect?.type === "quit") return end(() => resolve(key === "ctrl-c" ? "interrupted" : "quit"));
          if (effect) state = written(effect, state, reading);
          redraw();
        }),
    });
    const release = onInterrupt(() => end(() => resolve("interrupted")));
    guarded(() => {
      screen.open();
      redraw();
    });
  });
}

/** A list that could not be written is told on the last line; the reader stays where he was. */
function written({ path, text }: Extract<Effect, { type: "write" }>, state: State, { writeFile }: Reading): State {
  try {
    writeFile(path, text);
    return state;
  } catch (thrown) {
    return {
      ...state,
      message: null,
      notice: `${path} cannot be written: ${thrown instanceof Error ? thrown.message : thrown}`,
    };
  }
}
