/** What a command is: its words, its flags, and what it does with them. */
import type { Actions } from "./actions.js";
import type { ExitCode } from "./exit-code.js";
import type { Flag } from "./flag.js";
import { type FlagName, flags, type Settings } from "./flags.js";
import type { Io } from "./io.js";

type Abouts = Partial<Readonly<Record<FlagName, string>>>;

export interface Command {
  readonly name: string;
  readonly group: "Look" | "Change" | "Prove" | "Machine";
  /** As in a usage line: `<model>`, `[model]`, `<models...>`. */
  readonly parameters: string;
  /** A sentence without a full stop. */
  readonly about: string;
  /** What one should know besides: a paragraph. */
  readonly note?: string;
  /** Two commands as one would type them. */
  readonly examples: readonly [string, string];
  readonly flags: readonly FlagName[];
  /** What flags do here, where that is something else than what most commands do by them. */
  readonly abouts?: Abouts;
  readonly exits: readonly ExitCode[];
  /** Whether it reads .infer-opt.json of the folder it runs in, without being told. */
  readonly findsConfig?: boolean;
  run(invocation: Invocation): Promise<ExitCode>;
}

export interface Invocation {
  readonly command: Command;
  /** One entry for each parameter; "" for an optional one that was left out. */
  readonly parameters: readonly string[];
  /** The rest, where the last parameter takes several. */
  readonly more: readonly string[];
  readonly settings: Settings;
  /** Flags on the command line itself: a config file may have more, for other commands as well. */
  readonly typed: readonly FlagName[];
  /** The config file that settings came from; null where there was none. */
  readonly configPath: string | null;
  /** As typed, quoted for a shell. */
  readonly commandLine: string;
  readonly toolVersion: string;
  readonly io: Io;
  readonly actions: Actions;
}

/** Flags that every command has. */
export const everywhere: readonly FlagName[] = ["config", "json", "quiet", "verbose"];
export const running: readonly FlagName[] = ["provider", "allowFallback", "threads", "shape", "batch", "seed"];
export const passChoice: readonly FlagName[] = ["skip", "only", "keepOpset", "foldBudget", "verify", "bisect"];
/** As this command has it: with its own words where those of all would not be true here. */
export const flagOf = ({ abouts }: Pick<Command, "abouts">, name: FlagName): Flag<unknown> => {
  const about = abouts?.[name];
  return about === undefined ? flags[name] : { ...flags[name], about };
};
/** Of commands that hold a rewritten model against the one that it was made of, by their outputs. */
export const comparesOutputs: Abouts = {
  calibration: "samples to compare the outputs on, in place of made-up inputs; labels are not looked at",
  eval: "as --calibration, which wins; `verify` judges accuracy by labels",
};
/** Of commands that measure how models run, whatever they answer. */
export const feedsModels: Abouts = {
  eval: "samples to feed the models with, in place of made-up inputs",
};
/** Of commands that judge accuracy, and need samples to do so. */
export const smokeTest =
  "Without --eval or --calibration this is only a smoke test: made-up inputs show that both models run, and nothing about accuracy.";
export const limits: readonly FlagName[] = ["metric", "maxDrop", "minSpeedup", "slo", "maxSize", "confidence"];
export const written: readonly FlagName[] = ["output", "inPlace", "externalData"];
