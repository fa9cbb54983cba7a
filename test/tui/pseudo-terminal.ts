/** Programs on a terminal that nobody sees: keys go in, and what a person would see comes out. */
import { createRequire } from "node:module";
import type { IPty } from "@lydell/node-pty";
import type { Terminal } from "@xterm/headless";
import { onTestFinished } from "vitest";

const require = createRequire(import.meta.url);
const { Terminal: HeadlessTerminal } = require("@xterm/headless") as typeof import("@xterm/headless");

export type Size = readonly [columns: number, rows: number];

/** null where there is no pseudo-terminal to be had: no prebuilt library for this system. */
export const ptyLibrary: typeof import("@lydell/node-pty") | null = (() => {
  try {
    return require("@lydell/node-pty");
  } catch {
    return null;
  }
})();

export const emulator = ([cols, rows]: Size): Terminal =>
  new HeadlessTerminal({ cols, rows, allowProposedApi: true, scrollback: 200 });

/** What is seen: a line for each row, without spaces at its end. */
export function seen(terminal: Terminal): string[] {
  const { active } = terminal.buffer;
  return Array.from(
    { length: terminal.rows },
    (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? "",
  );
}

/** What was scrolled out of sight, and what is seen. */
export function history(terminal: Terminal): string[] {
  const { normal } = terminal.buffer;
  return Array.from({ length: normal.length }, (_, row) => normal.getLine(row)?.translateToString(true) ?? "");
}

export const written = (terminal: Terminal, text: string): Promise<void> =>
  new Promise((done) => terminal.write(text, done));

export interface Ended {
  readonly code: number;
  readonly signal: number | undefined;
}

export class TerminalSession {
  readonly terminal: Terminal;
  /** Everything that was written, controls included. */
  raw = "";
  readonly ended: Promise<Ended>;
  private readonly pty: IPty;
  #isOver = false;

  constructor(argv: readonly string[], size: Size, { cwd, env = {} }: { cwd: string; env?: Record<string, string> }) {
    this.terminal = emulator(size);
    const { CI: _, NO_COLOR: __, FORCE_COLOR: ___, GITHUB_ACTIONS: ____, ...inherited } = process.env;
    this.pty = ptyLibrary!.spawn(process.execPath, [...argv], {
      name: env["TERM"] ?? "xterm-256color",
      cols: size[0],
      rows: size[1],
      cwd,
      env: { ...inherited, LANG: "C.UTF-8", ...env } as Record<string, string>,
    });
    this.pty.onData((text) => {
      this.raw += text;
      this.terminal.write(text);
    });
    this.ended = new Promise((resolve) => {
      this.pty.onExit(({ exitCode, signal }) => {
        this.#isOver = true;
        resolve({ code: exitCode, signal });
      });
    });
    // Of a test that failed, nothing is left running.
    onTestFinished(() => {
      if (!this.#isOver) this.pty.kill("SIGKILL");
    });
  }

  get pid(): number {
    return this.pty.pid;
  }

  get screen(): string {
    return seen(this.terminal).join("\n");
  }

  press(...keys: readonly string[]): void {
    for (const key of keys) this.pty.write(key);
  }

  resize([columns, rows]: Size): void {
    this.terminal.resize(columns, rows);
    this.pty.resize(columns, rows);
  }

  kill(signal: string): void {
    this.pty.kill(signal);
  }

  /** Waits until the screen shows it, for as long as a test may take. */
  async sees(what: string | RegExp): Promise<void> {
    const isThere = (): boolean => (typeof what === "string" ? this.screen.includes(what) : what.test(this.screen));
    const until = Date.now() + 30_000;
    while (!isThere()) {
      if (Date.now() > until) throw new Error(`the screen never showed ${what}:\n${this.screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
