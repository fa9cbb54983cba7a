/** The outside world as a value, so that whole commands can run in a test. */
import { type Sheet, sheetOf } from "../report/sheet.js";
import type { Terminal } from "../tui/terminal.js";
import type { Watch } from "./observe.js";
import { readStandardInput } from "./standard-input.js";

export interface Io {
  /** The result and nothing else. */
  readonly stdout: NodeJS.WritableStream;
  /** Progress, warnings, errors. */
  readonly stderr: NodeJS.WritableStream;
  readonly isTTY: { readonly stdout: boolean; readonly stderr: boolean };
  /** Cells of a line of the terminal at stdout; null where there is none. */
  readonly columns: number | null;
  /** Draws what a run does, where somebody watches it; null elsewhere. */
  readonly watch: (() => Watch) | null;
  /** Keyboard and screen, where both are a person's; null elsewhere. */
  readonly terminal: Terminal | null;
  /** What is piped in, all of it. Throws RESULT_UNREADABLE where nothing is, or it cannot be read. */
  readInput(): string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths start from. */
  readonly cwd: string;
  /** Calls back at Ctrl-C, at a polite kill and when the terminal closes, until the returned function is called. */
  onInterrupt(handler: () => void): () => void;
  /** Ends the program here and now. */
  exitNow(code: number): void;
}

export function processIo(): Io {
  const { stdout, stderr, env } = process;
  // Of a stderr that takes nothing more there is nobody left to tell; stdout is main's to watch.
  stderr.on("error", () => undefined);
  return {
    stdout,
    stderr,
    isTTY: { stdout: stdout.isTTY === true, stderr: stderr.isTTY === true },
    // Asked for when it is wanted: a window may have been made larger during the run.
    get columns() {
      return stdout.isTTY ? stdout.columns : null;
    },
    watch: null,
    // Nobody is asked for a keyboard before it is wanted: that opens standard input.
    get terminal() {
      return stdout.isTTY && process.stdin.isTTY ? { stdin: process.stdin, stdout } : null;
    },
    readInput: readStandardInput,
    env,
    cwd: ".",
    onInterrupt(handler) {
      const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
      for (const signal of signals) process.on(signal, handler);
      return () => {
        for (const signal of signals) process.off(signal, handler);
      };
    },
    exitNow: (code) => process.exit(code),
  };
}

/** What a text for stdout is written on. `COLUMNS` counts where there is no terminal to ask, as with `| less`. */
export function sheetFor({ columns, env }: Io): Sheet {
  const told = Number(env["COLUMNS"]);
  return sheetOf(columns ?? (Number.isInteger(told) && told > 0 ? told : null), !takesUnicode(env));
}

/** By the locale, as other programs have it; where none is set, as nearly all terminals have it by now. */
function takesUnicode(env: Io["env"]): boolean {
  const { LC_ALL, LC_CTYPE, LANG, TERM } = env;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return TERM !== "dumb" && (locale === "" || /utf-?8/i.test(locale));
}

/** Blocks and dots of charts as well, which the console of Linux has not. */
export const drawsUnicode = (env: Io["env"]): boolean => takesUnicode(env) && env["TERM"] !== "linux";

/** https://no-color.org: any value but the empty one; FORCE_COLOR overrules a pipe, not a wish. */
export function wantsColor(io: Io, stream: "stdout" | "stderr"): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = io.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0";
  return io.isTTY[stream] && TERM !== "dumb";
}
