/**
 * `--config FILE`: the same settings as the flags, by their camelCase names, as JSON. What editors are told of it (config-schema.ts)
 * comes from the same table of flags.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { withoutMark } from "../base/byte-order-mark.js";
import { InferOptError, messageOf } from "../base/errors.js";
import { nearbyFile } from "../base/nearby-file.js";
import { likelyName } from "../base/nearest.js";
import type { Flag } from "./flag.js";
import { type FlagName, flags } from "./flags.js";
import type { RawConfig, RawValues } from "./settings.js";

/** Numbers as they would be typed: digits without an exponent. */
const digits = (value: number): string =>
  value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 20 });
const text = v.union([v.string(), v.pipe(v.number(), v.transform(digits))]);
/** One value stands for a list of one, as on the command line. */
const texts = v.pipe(
  v.union([text, v.array(text)]),
  v.transform((given) => (typeof given === "string" ? [given] : given)),
);

/** Flags that a file may set, by their keys. */
export const configKeys = Object.entries<Flag<unknown>>(flags).filter(([, { inConfig }]) => inConfig);
const entries = Object.fromEntries(
  configKeys.map(([name, { kind }]) => [
    name,
    v.optional(kind === "switch" ? v.boolean() : kind === "value" ? text : texts),
  ]),
);
/** Editors look for `$schema`; it means nothing here. */
const schema = v.strictObject({ ...entries, $schema: v.optional(v.string()) });

/** What `gate` looks for in the folder that it runs in. */
const CONFIG_NAME = ".infer-opt.json";

/** The path of the folder's own config; null where there is none. */
export function findConfigFile(folder: string): string | null {
  const path = join(folder, CONFIG_NAME);
  return existsSync(path) ? path : null;
}

/** Throws CONFIG_UNREADABLE, CONFIG_UNKNOWN_KEY or CONFIG_INVALID. */
export const readConfigFile = (path: string): RawConfig => configOf(path, readJson(path));

/** `json` is what stands in the file. Throws CONFIG_UNKNOWN_KEY or CONFIG_INVALID. */
export function configOf(path: string, json: unknown): RawConfig {
  if (json === null || typeof json !== "object" || Array.isArray(json)) {
    throw new InferOptError("CONFIG_INVALID", "input", `config ${path} is ${shown(json)}, not a JSON object`, {
      hint: example,
      fields: { path },
    });
  }
  const parsed = v.safeParse(schema, json);
  if (!parsed.success) throw refusal(path, parsed.issues[0]);
  const { $schema, ...values } = parsed.output;
  return { path, folder: dirname(path), values: values as RawValues };
}

const example = 'Write flags as a JSON object, for example {"maxDrop": "0.5%", "threads": 2}.';

function readJson(path: string): unknown {
  try {
    return JSON.parse(withoutMark(readFileSync(path, "utf8")));
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const likely = isMissing ? nearbyFile(path) : null;
    const why = isMissing
      ? "is not there"
      : cause instanceof SyntaxError
        ? `is no JSON: ${messageOf(cause)}`
        : `cannot be read: ${messageOf(cause)}`;
    throw new InferOptError("CONFIG_UNREADABLE", "input", `config ${path} ${why}`, {
      hint: likely === null ? example : `Did you mean ${likely}?`,
      cause,
      fields: { path },
    });
  }
}

function refusal(path: string, issue: v.BaseIssue<unknown>): InferOptError {
  const key = v.getDotPath(issue);
  if (issue.type === "strict_object" && key !== null) {
    const likely = likelyName(
      key,
      configKeys.map(([name]) => name),
    );
    return new InferOptError("CONFIG_UNKNOWN_KEY", "input", `config ${path} has the unknown key "${key}"`, {
      hint:
        likely === null ? "Keys are the names of flags, as in maxDrop for --max-drop." : `Did you mean "${likely}"?`,
      fields: { path, key },
    });
  }
  const where = key === null ? "" : `: "${key}"`;
  const wanted = key === null ? "a JSON object" : wantedOf(key);
  return new InferOptError(
    "CONFIG_INVALID",
    "input",
    `config ${path}${where} is ${shown(issue.input)}, not ${wanted}`,
    {
      hint: `Give ${wanted}.`,
      fields: { path, key },
    },
  );
}

function wantedOf(key: string): string {
  const flag: Flag<unknown> | undefined = flags[key.split(".")[0] as FlagName];
  if (flag?.kind === "switch") return "true or false";
  return flag?.kind === "list" && !key.includes(".") ? "a text or a list of texts" : "a text or a number";
}

const shown = (value: unknown): string => {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 40 ? `${json.slice(0, 40)}...` : json;
};
