/**
 * A screen of its own on a terminal, given back as it was whatever happens: at the end, on a signal, when something is
 * thrown, and when the program is sent to the background. Draws only lines that changed, each whole, so nothing tears.
 */
import { writeSync } from "node:fs";
import { emitKeypressEvents, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import type { Size } from "./draw.js";
import { type Keypress, keyName } from "./keys.js";

const ESC = "\x1b[";
/** Another screen, no cursor, and lines that are too long are cut instead of wrapped. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l${ESC}2J`;
const LEAVE = `${ESC}0m${ESC}?7h${ESC}?25h${ESC}?1049l`;
/** Terminals that know these show the frame at once; others pass them over. */
const FRAME = `${ESC}?2026h`;
const END = `${ESC}?2026l`;

/** Standard output: what cannot wait is written there without a stream. */
const STDOUT = 1;

/** The one thing that `readline` wants of an interface here: how long after Escape the rest of a key may come. */
const escapeSoon = { escapeCodeTimeout: 50 } as unknown as Interface;

export interface Terminal {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
}

export interface Handlers {
  readonly onKey: (key: string) => void;
  readonly onResize: () => void;
}

/** A terminal that says it has no size is taken for the usual one. */
export const sizeOf = ({ stdout }: Pick<Terminal, "stdout">): Size => ({
  columns: stdout.columns || 80,
  rows: stdout.rows || 24,
});

export class FullScreen {
  #shown: readonly string[] = [];
  #isOpen = false;
  readonly #restore = (): void => this.#leave();

  constructor(
    private readonly terminal: Terminal,
    private readonly handlers: Handlers,
  ) {}

  open(): void {
    const { stdin, stdout } = this.terminal;
    emitKeypressEvents(stdin, escapeSoon);
    stdin.on("keypress", this.#onKeypress);
    stdout.on("resize", this.#onResize);
    // Of a process that ends in any other way than `close`.
    process.on("exit", this.#restore);
    process.on("SIGCONT", this.#onContinue);
    this.#enter();
  }

  /** Shows these lines, one for each row. */
  show(lines: readonly string[]): void {
    if (!this.#isOpen) return;
    const changed = lines.flatMap((line, row) =>
      // Erased before: after a line that reaches the last column the cursor stands on that, and would take it away.
      line === this.#shown[row] ? [] : [`${ESC}${row + 1};1H${ESC}0m${ESC}K${line}`],
    );
    const below = lines.length < this.#shown.length ? [`${ESC}${lines.length + 1};1H${ESC}J`] : [];
    this.#shown = lines;
    if (changed.length + below.length > 0)
      this.terminal.stdout.write(`${FRAME}${changed.join("")}${below.join("")}${END}`);
  }

  close(): void {
    const { stdin, stdout } = this.terminal;
    this.#leave();
    stdin.off("keypress", this.#onKeypress);
    stdout.off("resize", this.#onResize);
    process.off("exit", this.#restore);
    process.off("SIGCONT", this.#onContinue);
    stdin.pause();
  }

  #enter(): void {
    const { stdin, stdout } = this.terminal;
    this.#isOpen = true;
    this.#shown = [];
    stdin.setRawMode(true);
    stdin.resume();
    stdout.write(ENTER);
  }

  /** At once: there may be no more turn of the event loop. */
  #leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    try {
      this.terminal.stdin.setRawMode(false);
      writeSync(STDOUT, LEAVE);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EIO") throw thrown;
      // The terminal is gone: there is nothing to give back, and Node aborts when it ends without one (nodejs/node#26401).
      process.removeAllListeners("SIGHUP");
      process.kill(process.pid, "SIGHUP");
    }
  }

  /** The terminal may have moved its lines: all are drawn anew. */
  readonly #onResize = (): void => {
    if (!this.#isOpen) return;
    this.terminal.stdout.write(`${ESC}2J`);
    this.#shown = [];
    this.handlers.onResize();
  };

  readonly #onContinue = (): void => {
    this.#enter();
    this.handlers.onResize();
  };

  readonly #onKeypress = (typed: string | undefined, key: Keypress): void => {
    if (key.ctrl && key.name === "z") {
      this.#leave();
      process.kill(process.pid, "SIGSTOP");
      return;
    }
    const name = keyName(typed, key);
    if (name !== null) this.handlers.onKey(name);
  };
}
