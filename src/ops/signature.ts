import type { DType } from "../ir/index.js";
import { signatureTexts } from "./signature-table.js";

/** A place of an operator's input or output list: an element type, a type variable, any type of its own, or no tensor. */
export type Place =
  | { readonly kind: "fixed"; readonly dtype: DType }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "any" }
  | { readonly kind: "none" };

/** The types that an operator takes and gives at one opset. */
export interface Signature {
  /** The place of input `index`; null beyond the list. */
  input(index: number): Place | null;
  output(index: number): Place | null;
  /** Whether a type variable may be float32, float16 or bfloat16; false for a variable that may not, or that is none. */
  allows(variable: string, dtype: "f32" | "f16" | "bf16"): boolean;
  /** False when it takes or gives sequences, optionals or maps. */
  readonly tensorsOnly: boolean;
}

const letterOf = { f32: "f", f16: "h", bf16: "b" } as const;
const parsed = new Map<string, { since: number; signature: Signature }[]>();

/** The signature of an ai.onnx operator at an opset of 7 or later; null when there is no such operator. */
export function signatureOf(op: string, opset: number): Signature | null {
  let versions = parsed.get(op);
  if (!versions) {
    const text = Object.hasOwn(signatureTexts, op) ? signatureTexts[op] : undefined;
    versions = text === undefined ? [] : text.split(" ; ").map(parseVersion);
    parsed.set(op, versions);
  }
  return versions.findLast(({ since }) => since <= opset)?.signature ?? null;
}

function parseVersion(text: string): { since: number; signature: Signature } {
  const [since, places, ...flags] = text.split(" ");
  const [inputs, outputs] = places!.split(">").map((list) => (list === "" ? [] : list.split(",")));
  const allowed = new Map(flags.filter((flag) => flag !== "!").map((flag) => flag.split(":") as [string, string]));
  return {
    since: Number(since),
    signature: {
      input: (index) => placeAt(inputs!, index),
      output: (index) => placeAt(outputs!, index),
      allows: (variable, dtype) => allowed.get(variable)?.includes(letterOf[dtype]) ?? false,
      tensorsOnly: !flags.includes("!"),
    },
  };
}

function placeAt(tokens: readonly string[], index: number): Place | null {
  const last = tokens.at(-1);
  const token = tokens[index] ?? (last?.endsWith("*") ? last : undefined);
  if (token === undefined) return null;
  const name = token.replace("*", "");
  if (name === "?") return { kind: "any" };
  if (name === "-") return { kind: "none" };
  return /^[A-Z]$/.test(name) ? { kind: "variable", name } : { kind: "fixed", dtype: name as DType };
}
