/** A schema of ours as JSON Schema (draft 2020-12), for those who read results in other languages. */
import type * as v from "valibot";
import { resultSchema } from "./result-schema.js";

/** The parts of a schema of valibot that are looked at. */
export interface SchemaPart {
  readonly type: string;
  readonly entries?: Readonly<Record<string, SchemaPart>>;
  readonly item?: SchemaPart;
  readonly items?: readonly SchemaPart[];
  readonly wrapped?: SchemaPart;
  readonly literal?: unknown;
  /** Of a picklist values, of a union schemas. */
  readonly options?: readonly unknown[];
  readonly pipe?: readonly PipeItem[];
}

interface PipeItem {
  readonly type: string;
  readonly requirement?: unknown;
  readonly description?: string;
}

/** Published as schema/result.schema.json, which a test keeps as it is made here. */
export const resultJsonSchema = (): object => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Result of infer-opt",
  description:
    "What the commands that run models write with --json and --report FILE.json. Fields may be added to any object; schemaVersion grows when one is renamed or changes its meaning.",
  ...jsonSchemaOf(resultSchema),
});

/** Throws for a kind of schema that it does not know. */
function jsonSchemaOf(schema: v.GenericSchema): object {
  return formOf(schema as unknown as SchemaPart);
}

function formOf(part: SchemaPart): object {
  return { ...shapeOf(part), ...refinements(part.pipe ?? []) };
}

function shapeOf(part: SchemaPart): object {
  switch (part.type) {
    case "string":
    case "number":
    case "boolean":
      return { type: part.type };
    case "literal":
      return { const: part.literal };
    case "picklist":
      return { enum: part.options };
    case "nullable":
      return { anyOf: [formOf(part.wrapped!), { type: "null" }] };
    case "optional":
      return formOf(part.wrapped!);
    case "union":
      return { anyOf: (part.options as readonly SchemaPart[]).map(formOf) };
    case "array":
      return { type: "array", items: formOf(part.item!) };
    case "tuple": {
      const items = part.items!;
      return { type: "array", prefixItems: items.map(formOf), minItems: items.length, maxItems: items.length };
    }
    case "loose_object": {
      const entries = Object.entries(part.entries!);
      const required = entries.filter(([, each]) => each.type !== "optional").map(([name]) => name);
      const properties = Object.fromEntries(entries.map(([name, each]) => [name, formOf(each)]));
      return { type: "object", properties, ...(required.length > 0 && { required }) };
    }
    default:
      throw new Error(`internal: a schema of type ${part.type} has no form in JSON Schema`);
  }
}

/** The first of a pipe is the schema itself. */
function refinements(pipe: readonly PipeItem[]): object {
  const found = pipe.slice(1).map((item): object => {
    if (item.type === "description") return { description: item.description };
    // What JSON Schema has no words for.
    if (item.type === "check") return {};
    if (item.type === "max_length") return { maxItems: item.requirement };
    if (item.type === "min_value") return { minimum: item.requirement };
    if (item.type === "gt_value") return { exclusiveMinimum: item.requirement };
    if (item.type === "min_length") return { minItems: item.requirement };
    throw new Error(`internal: ${item.type} has no form in JSON Schema`);
  });
  return Object.assign({}, ...found) as object;
}
