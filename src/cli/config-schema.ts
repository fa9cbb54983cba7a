/**
 * The JSON schema of config files, for editors and for checks in CI: made of the table of flags, as the reader of config files
 * is. Published as schema/infer-opt.schema.json, which a test keeps as it is made here.
 */
import { configKeys } from "./config-file.js";
import { type Flag, longName } from "./flag.js";

/** Draft 2020-12. Every file that it admits is read without a fault, as far as paths in it exist. */
export const configSchema = (): object => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Config of infer-opt",
  description:
    "Flags as JSON: found by `gate` as .infer-opt.json in the folder it runs in, given to any command with --config.",
  type: "object",
  properties: {
    $schema: { type: "string", description: "The place of this schema, for editors; it means nothing to infer-opt." },
    ...Object.fromEntries(configKeys.map(([key, flag]) => [key, { description: aboutOf(flag), ...formOf(flag) }])),
  },
  additionalProperties: false,
});

const aboutOf = (flag: Flag<unknown>): string => `${longName(flag)}: ${flag.about}`;

function formOf({ kind, parse: { form } }: Flag<unknown>): object {
  if (kind === "switch") return { type: "boolean" };
  const text = form?.text ?? (form ? null : { minLength: 1 });
  const one = anyOf([...(text ? [{ type: "string", ...text }] : []), ...(form?.number ? [form.number] : [])]);
  return kind === "value" ? one : anyOf([one, { type: "array", items: one }]);
}

const anyOf = (choices: readonly object[]): object => (choices.length === 1 ? choices[0]! : { anyOf: choices });
