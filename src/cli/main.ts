/** Arguments in, exit code out. */
import { readFileSync } from "node:fs";
import { CommanderError, Command as Parser } from "commander";
import { InferOptError } from "../base/errors.js";
import { likelyName } from "../base/nearest.js";
import { shellWord } from "../base/shell-word.js";
import { type Actions, pipelineActions } from "./actions.js";
import { type Command, everywhere } from "./command.js";
import { commands } from "./commands/index.js";
import { exitCode } from "./exit-code.js";
import { reportFault } from "./fault.js";
import type { Flag } from "./flag.js";
import { type FlagName, flags } from "./flags.js";
import { commandHelp, rootHelp, shortHelp } from "./help.js";
import { type Io, processIo } from "./io.js";
import { type RawValues, resolveSettings } from "./settings.js";
import { watchStdout } from "./watch-stdout.js";

/** Never rejects: whatever goes wrong is printed and has its code. */
export async function main(
  argv: readonly string[],
  io: Io = processIo(),
  actions: Actions = pipelineActions,
): Promise<number> {
  const commandLine = ["infer-opt", ...argv].map(shellWord).join(" ");
  const ended = watchStdout(io, { command: null, commandLine, json: false, verbose: false });
  return ended(await obey(argv, io, actions, commandLine));
}

async function obey(argv: readonly string[], io: Io, actions: Actions, commandLine: string): Promise<number> {
  if (io.env.INFER_OPT_COMPLETE) {
    const { completions } = await import("./complete.js");
    io.stdout.write((await completions(argv, commands, actions)).map((word) => `${word}\n`).join(""));
    return exitCode.done;
  }
  if (argv.length === 0) {
    io.stderr.write(shortHelp());
    return exitCode.usage;
  }
  let code: number = exitCode.done;
  const program = parser(io, async (command, parameters, raw) => {
    const config = await configFile(command, raw.config, io.cwd);
    const settings = resolveSettings(raw, io.cwd, config);
    const cut = command.parameters.split(" ").filter((part) => part !== "").length;
    const [first, more] = command.parameters.endsWith("...>")
      ? [parameters.slice(0, cut - 1), parameters.slice(cut - 1)]
      : [parameters, []];
    code = await command.run({
      command,
      parameters: first.map((path) => (path === "" ? "" : flagPath(path, io.cwd))),
      more: more.map((path) => flagPath(path, io.cwd)),
      settings,
      typed: Object.keys(raw) as FlagName[],
      configPath: config?.path ?? null,
      commandLine,
      toolVersion: version(),
      io,
      actions,
    });
  });
  try {
    refuseHelpOfNothing(argv);
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCode.done;
    const command = commandIn(argv);
    const [json, verbose] = [argv.includes("--json"), argv.includes("--verbose")];
    const context = { command: command?.name ?? null, commandLine, json, verbose };
    return reportFault(thrown instanceof CommanderError ? usageFault(thrown, command, argv) : thrown, context, io);
  }
}

type Start = (command: Command, parameters: readonly string[], raw: RawFlags) => Promise<void>;
type RawFlags = RawValues & { readonly config?: string };

function parser(io: Io, start: Start): Parser {
  const program = new Parser("infer-opt")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Errors are told by reportFault, from what is thrown.
      writeErr: () => {},
    })
    .configureHelp({ formatHelp: () => rootHelp(commands) })
    .version(version(), "-V, --version")
    .helpCommand(false);
  for (const command of commands) addCommand(program, command, start);
  program
    .command("help [command]")
    .configureHelp({ formatHelp: () => rootHelp(commands) })
    .action(async (name: string | undefined) => {
      const page = name === undefined ? null : await pageOf(name);
      if (page !== null) return void io.stdout.write(page);
      const command = commands.find((known) => known.name === name);
      if (name !== undefined && !command) throw unknownCommand(name);
      io.stdout.write(command ? commandHelp(command) : rootHelp(commands));
    });
  return program;
}

function addCommand(program: Parser, command: Command, start: Start): void {
  const { name, parameters } = command;
  const subcommand = program.command([name, parameters].filter((part) => part !== "").join(" "));
  subcommand.configureHelp({ formatHelp: () => commandHelp(command) });
  for (const key of [...command.flags, ...everywhere]) {
    const { spelling, kind }: Flag<unknown> = flags[key];
    const option = subcommand.createOption(spelling).argParser((text: string, sofar: unknown) => {
      return kind === "value" ? text : [...(Array.isArray(sofar) ? sofar : []), text];
    });
    subcommand.addOption(kind === "switch" ? subcommand.createOption(spelling) : option);
  }
  subcommand.action((...given: unknown[]) => {
    const values = given.slice(0, -2).flat() as (string | undefined)[];
    const parsed = subcommand.opts<Record<string, unknown>>();
    const raw = [...command.flags, ...everywhere].flatMap((key) => {
      const value = parsed[subcommand.createOption(flags[key].spelling).attributeName()];
      return value === undefined ? [] : [[key, value]];
    });
    return start(
      command,
      values.map((value) => value ?? ""),
      Object.fromEntries(raw) as RawFlags,
    );
  });
}

async function pageOf(word: string): Promise<string | null> {
  const { errorPage, isCode } = await import("./error-pages.js");
  return isCode(word) ? errorPage(word) : null;
}

const flagPath = (path: string, cwd: string): string =>
  flags.output.parse(path, { name: "path", kind: "usage", folder: cwd }) as string;

async function configFile({ findsConfig }: Command, given: string | undefined, cwd: string) {
  if (given === undefined && !findsConfig) return null;
  const { findConfigFile, readConfigFile } = await import("./config-file.js");
  const path = given === undefined ? findConfigFile(cwd) : flagPath(given, cwd);
  return path === null ? null : readConfigFile(path);
}

/** The parser would answer `compare --help` with all that there is, as if `compare` were of it. */
function refuseHelpOfNothing(argv: readonly string[]): void {
  const [word = "-"] = argv;
  const isKnown = word.startsWith("-") || word === "help" || commands.some(({ name }) => name === word);
  if (!isKnown && argv.some((each) => each === "--help" || each === "-h")) throw unknownCommand(word);
}

/** Commander's codes, and ours. */
const usageCodes: Readonly<Record<string, string>> = {
  "commander.unknownOption": "FLAG_UNKNOWN",
  "commander.optionMissingArgument": "FLAG_WITHOUT_VALUE",
  "commander.missingArgument": "ARGUMENT_MISSING",
  "commander.excessArguments": "ARGUMENT_UNEXPECTED",
  "commander.unknownCommand": "COMMAND_UNKNOWN",
};

/** The first word that is one: others may be names of files. */
function commandIn(argv: readonly string[]): Command | null {
  const word = argv.find((each) => commands.some(({ name }) => name === each));
  return commands.find(({ name }) => name === word) ?? null;
}

function usageFault(
  { code, message }: CommanderError,
  command: Command | null,
  argv: readonly string[],
): InferOptError {
  const [what, suggestion] = message.replace(/^error: /, "").split("\n");
  const hint = suggestion ? suggestion.replace(/^\((.*)\)$/, "$1") : usageHint(code, command, argv);
  return new InferOptError(usageCodes[code] ?? "USAGE", "usage", what!, { hint });
}

function usageHint(code: string, command: Command | null, argv: readonly string[]): string {
  const [first = ""] = argv;
  if (!command) {
    return /\.onnx$/i.test(first)
      ? `Say what to do with it: \`infer-opt inspect ${shellWord(first)}\` tells what there is to do.`
      : "`infer-opt --help` says what there is.";
  }
  if (first.startsWith("-")) return `Flags come after the command: infer-opt ${command.name} ${first}`;
  if (code === "commander.missingArgument") return `For example: ${command.examples[0]}`;
  const last = argv.at(-1)!;
  if (code === "commander.excessArguments" && command.flags.includes("output") && /\.onnx$/i.test(last)) {
    return `Did you mean -o ${shellWord(last)}?`;
  }
  return `\`infer-opt help ${command.name}\` says what there is.`;
}

function unknownCommand(name: string): InferOptError {
  const likely = likelyName(
    name,
    commands.map((command) => command.name),
  );
  return new InferOptError("COMMAND_UNKNOWN", "usage", `unknown command '${name}'`, {
    hint: likely === null ? "`infer-opt --help` lists them." : `Did you mean ${likely}?`,
    fields: { command: name },
  });
}

const version = (): string =>
  (JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }).version;
