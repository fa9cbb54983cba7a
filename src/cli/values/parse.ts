/** What reads a text on the command line or in a config file, and says in a schema what it takes. */
import { type FaultKind, InferOptError } from "../../base/errors.js";

/** Where a text came from. */
export interface Source {
  /** `--max-drop`, or the key of a config file with its path. */
  readonly name: string;
  readonly kind: Extract<FaultKind, "usage" | "input">;
  /** What relative paths start from. */
  readonly folder: string;
}

/**
 * What the schema of config files says of a value: all that it admits is taken. What it leaves out may be taken too, such as a
 * number that is written as a text.
 */
export interface ValueForm {
  readonly text?: { readonly enum: readonly string[] } | { readonly pattern: string };
  readonly number?: {
    readonly type: "integer" | "number";
    readonly minimum?: number;
    readonly maximum?: number;
    readonly exclusiveMinimum?: number;
    readonly exclusiveMaximum?: number;
  };
}

/** The form is absent where any text may do. */
export type Parse<T> = ((text: string, source: Source) => T) & { readonly form?: ValueForm };

export const formed = <T>(form: ValueForm, parse: (text: string, source: Source) => T): Parse<T> =>
  Object.assign(parse, { form });

/** Source of expressions: a number as `decimal` takes it, and one above 0. */
export const NUMBER = String.raw`(\d+(\.\d+)?|\.\d+)`;
export const POSITIVE = String.raw`(?=[\d.]*[1-9])${NUMBER}`;
/** The whole text is of that form. */
export const whole = (pattern: string) => ({ pattern: `^(${pattern})$` });

export function invalid(text: string, { name, kind }: Source, why: string, hint: string): InferOptError {
  const code = kind === "usage" ? "FLAG_INVALID" : "CONFIG_INVALID";
  return new InferOptError(code, kind, `${name}: "${text}" ${why}`, { hint, fields: { flag: name, value: text } });
}

/** Decimal digits only: Number() would also take "", " 1", "0x10" and "1e3". */
export const decimal = (text: string): number | null => (/^\d+(\.\d+)?$|^\.\d+$/.test(text) ? Number(text) : null);

/** The end of a hint. */
export const exampleOf = ({ kind, name }: Source, value: number): string =>
  kind === "usage" ? `For example ${name} ${value}.` : `Give one, for example ${value}.`;
