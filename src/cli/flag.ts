/** What a flag is. */
import type { Parse } from "./values/parse.js";
import { parseText } from "./values/plain.js";

export const flagGroups = ["Change", "Limits", "Data", "Run", "Output"] as const;
export type FlagGroup = (typeof flagGroups)[number];

export interface Flag<T> {
  /** As in a help text: `-o, --output <file>`. */
  readonly spelling: string;
  readonly group: FlagGroup;
  readonly about: string;
  /** A list is a flag that may be given several times. `many` takes several values at once. */
  readonly kind: "value" | "list" | "many" | "switch";
  /** One value; switches have none. */
  readonly parse: Parse<unknown>;
  readonly fallback: T;
  /** Whether a config file may set it. */
  readonly inConfig: boolean;
}

type About = readonly [spelling: string, group: FlagGroup, about: string];

/** null where it is not given. */
export const optional = <T>([spelling, group, about]: About, parse: Parse<T>): Flag<T | null> => ({
  spelling,
  group,
  about,
  kind: "value",
  parse,
  fallback: null,
  inConfig: true,
});
export const value = <T>([spelling, group, about]: About, parse: Parse<T>, fallback: NoInfer<T>): Flag<T> => ({
  spelling,
  group,
  about,
  kind: "value",
  parse,
  fallback,
  inConfig: true,
});
/** Empty where it is not given. */
export const list = <T>([spelling, group, about]: About, parse: Parse<T>): Flag<readonly T[]> => ({
  spelling,
  group,
  about,
  kind: "list",
  parse,
  fallback: [],
  inConfig: true,
});
export const onOff = ([spelling, group, about]: About): Flag<boolean> => ({
  spelling,
  group,
  about,
  kind: "switch",
  parse: parseText,
  fallback: false,
  inConfig: true,
});
export const commandLineOnly = <T>(flag: Flag<T>): Flag<T> => ({ ...flag, inConfig: false });

/** `--max-drop` of `-o, --max-drop <limit>`. */
export const longName = ({ spelling }: Flag<unknown>): string => /--[\w-]+/.exec(spelling)![0];
