/** Help texts: usage, a sentence, two examples, then flags in groups, exit codes last. */
import { wrap } from "../report/table.js";
import { type Command, everywhere, flagOf } from "./command.js";
import { exitMeanings } from "./exit-code.js";
import { type Flag, flagGroups } from "./flag.js";

const WIDTH = 80;
const INDENT = 26;

export function commandHelp(command: Command): string {
  const { name, parameters, about, note, examples, exits } = command;
  const own = [...command.flags, ...everywhere].map((flag) => flagOf(command, flag));
  const groups = flagGroups.flatMap((group) => {
    const members = own.filter((flag) => flag.group === group);
    return members.length === 0 ? [] : ["", `${group}:`, ...members.flatMap(flagLines)];
  });
  return lines(
    `Usage: infer-opt ${[name, parameters, "[flags]"].filter((part) => part !== "").join(" ")}`,
    "",
    `${about}.`,
    ...(note === undefined ? [] : ["", ...wrap(note, WIDTH)]),
    "",
    "Examples:",
    ...examples.map((example) => `  ${example}`),
    ...groups,
    "",
    "Exit codes:",
    ...exits.map((code) => `  ${String(code).padStart(3)}  ${exitMeanings.get(code)}`),
  );
}

function flagLines({ spelling, about }: Flag<unknown>): string[] {
  const [first, ...rest] = wrap(about, WIDTH - INDENT);
  const indented = rest.map((line) => " ".repeat(INDENT) + line);
  const head = `  ${spelling}`;
  if (head.length > INDENT - 2) return [head, " ".repeat(INDENT) + first, ...indented];
  return [head.padEnd(INDENT) + first, ...indented];
}

export function rootHelp(commands: readonly Command[]): string {
  const groups = (["Look", "Change", "Prove", "Machine"] as const).flatMap((group) => [
    "",
    `${group}:`,
    ...commands
      .filter((command) => command.group === group)
      .map(({ name, parameters, about }) => {
        const head = `  ${[name, parameters].filter((part) => part !== "").join(" ")}`;
        return `${head.padEnd(33)}${about}`;
      }),
  ]);
  return lines(
    "Usage: infer-opt <command> [flags]",
    "",
    "Makes ONNX models smaller and faster, and proves it.",
    "",
    "Examples:",
    "  infer-opt inspect model.onnx",
    "  infer-opt optimize model.onnx -o small.onnx --calibration samples.npz",
    ...groups,
    "",
    "  infer-opt help <command>        flags, examples and exit codes of a command",
    "  infer-opt help <CODE>           what an error means, and its cure",
    "  infer-opt --version             the version",
  );
}

/** For those who typed nothing. */
export const shortHelp = (): string =>
  lines(
    "Usage: infer-opt <command> [flags]",
    "",
    "  infer-opt doctor                what this machine can run",
    "  infer-opt inspect model.onnx    what is in a model",
    "  infer-opt optimize model.onnx -o small.onnx --calibration samples.npz",
    "",
    "  infer-opt --help                all commands",
  );

const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;
