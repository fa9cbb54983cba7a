/** What a user sees of an error: code, what happened, what to do; the stack only on request. */
import { InferOptError, messageOf } from "../base/errors.js";
import { printable } from "../report/escape.js";
import { palette } from "../report/palette.js";
import { type ExitCode, exitCode, exitOfFault } from "./exit-code.js";
import { type Io, wantsColor } from "./io.js";

export interface FaultContext {
  /** The command's name, null when it was not even understood. */
  readonly command: string | null;
  /** As typed, to reproduce it. */
  readonly commandLine: string;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** What was to be said on stdout cannot be said there. */
export const lostOutput = (cause: Error): InferOptError =>
  new InferOptError("OUTPUT_FAILED", "input", `cannot write to standard output: ${cause.message}`, {
    hint: "Send it to a place with room. Files named on the command line were written all the same.",
    cause,
  });

/** Prints the error and returns the exit code. */
export function reportFault(thrown: unknown, context: FaultContext, io: Io): ExitCode {
  const known = thrown instanceof InferOptError ? thrown : null;
  const code = known?.code ?? "INTERNAL";
  const report = "This is a fault of infer-opt. Please report it, with ";
  const evidence = context.verbose
    ? `all of this output of: ${context.commandLine}`
    : `the output of: ${context.commandLine} --verbose`;
  const hint = known === null ? report + evidence : known.hint;
  const paint = palette(wantsColor(io, "stderr"));
  const message = messageOf(thrown)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const lines = [`${paint.bad("error")} ${paint.strong(code)}`, ...message.map((line) => `  ${printable(line)}`)];
  if (hint !== undefined) lines.push(`  fix: ${printable(hint)}`);
  if (context.verbose) lines.push(...causes(thrown).map((line) => paint.faint(line)));
  io.stderr.write(`${lines.join("\n")}\n`);
  if (context.json) {
    const error = { code, message: messageOf(thrown), hint: hint ?? null, fields: known?.fields ?? {} };
    io.stdout.write(`${JSON.stringify({ schemaVersion: 1, command: context.command, error }, jsonSafe, 2)}\n`);
  }
  return known ? exitOfFault[known.kind] : exitCode.internal;
}

/** Stack and cause chain, outermost first. */
function causes(thrown: unknown): string[] {
  const lines: string[] = [];
  const seen = new Set<unknown>();
  for (let at = thrown; at !== undefined && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at);
    const text = at instanceof Error ? (at.stack ?? at.message) : String(at);
    const [first, ...rest] = text.split("\n");
    lines.push(`${seen.size === 1 ? "" : "caused by "}${first}`, ...rest);
  }
  return lines.map((line) => printable(line));
}

/** Facts of an error may hold 64-bit integers. */
const jsonSafe = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? value.toString() : value);
