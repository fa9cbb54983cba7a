/** All commands and flags as a page of the documentation and as a man page, from the data that `--help` shows. */
import { type Command, everywhere, flagOf } from "./command.js";
import { type ExitCode, exitCode, exitMeanings, exitOfOutcome } from "./exit-code.js";
import type { Flag } from "./flag.js";
import { flags } from "./flags.js";

const flagsOf = (command: Command): readonly Flag<unknown>[] => command.flags.map((name) => flagOf(command, name));
const shared: readonly Flag<unknown>[] = everywhere.map((name) => flags[name]);
/** What codes that tell of limits and gains mean, with the commands that give them: others are done, or fail. */
const meaningsFor = (commands: readonly Command[]): readonly (readonly [ExitCode, string])[] =>
  [...exitMeanings].map(([code, meaning]) => {
    const names = commands.filter(({ exits }) => exits.includes(code)).map(({ name }) => name);
    return [code, isOutcome(code) ? `${meaning} (${names.join(", ")})` : meaning];
  });
const isOutcome = (code: ExitCode): boolean => code !== exitCode.done && Object.values(exitOfOutcome).includes(code);
const usageOf = ({ name, parameters }: Command): string =>
  ["infer-opt", name, parameters].filter((part) => part !== "").join(" ");

/** docs/commands.md */
export function manualMarkdown(commands: readonly Command[]): string {
  const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
  const table = (members: readonly Flag<unknown>[]): string[] => [
    "| flag | |",
    "| --- | --- |",
    ...members.map(({ spelling, about }) => `| \`${spelling.replaceAll("|", "\\|")}\` | ${cell(about)} |`),
    "",
  ];
  const parts = commands.flatMap((command) => {
    const { name, about, note, examples, exits } = command;
    const own = flagsOf(command);
    return [
      `## ${name}`,
      "",
      `\`${usageOf(command)}\``,
      "",
      `${about}.${note === undefined ? "" : ` ${note}`}`,
      "",
      ...examples.map((example) => `    ${example}`),
      "",
      ...(own.length > 0 ? table(own) : []),
      `Exit codes: ${exits.join(", ")}.`,
      "",
    ];
  });
  return [
    "# Commands",
    "",
    "What `infer-opt help <command>` says, on one page. It is made of the same data: `node scripts/manual.mjs` writes it anew.",
    "",
    "Flags of every command:",
    "",
    ...table(shared),
    ...parts,
    "## Exit codes",
    "",
    ...meaningsFor(commands).map(([code, meaning]) => `- ${code}: ${meaning}`),
    "",
  ].join("\n");
}

/** man/infer-opt.1, in the macros of man(7). */
export function manualRoff(commands: readonly Command[], version: string): string {
  const text = (line: string): string =>
    line
      .replaceAll("\\", "\\e")
      .replaceAll("-", "\\-")
      .replace(/^(['.])/, "\\&$1");
  const described = ({ spelling, about }: Flag<unknown>): string[] => [".TP", `.B ${text(spelling)}`, text(about)];
  const parts = commands.flatMap((command) => [
    `.SS ${text(usageOf(command))}`,
    text(`${command.about}.`),
    ...(command.note === undefined ? [] : [".PP", text(command.note)]),
    ...flagsOf(command).flatMap(described),
    ".PP",
    ".nf",
    ...command.examples.map(text),
    ".fi",
  ]);
  return [
    `.TH INFER\\-OPT 1 "" "infer\\-opt ${version}"`,
    ".SH NAME",
    "infer\\-opt \\- makes ONNX models smaller and faster, and proves it",
    ".SH SYNOPSIS",
    ".B infer\\-opt",
    "command [flags]",
    ".SH COMMANDS",
    ...parts,
    ".SH FLAGS OF EVERY COMMAND",
    ...shared.flatMap(described),
    ".SH EXIT STATUS",
    ...meaningsFor(commands).flatMap(([code, meaning]) => [".TP", `.B ${code}`, text(meaning)]),
    "",
  ].join("\n");
}
