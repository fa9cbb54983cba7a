/** Errors as plain data: a class does not survive the way between processes. */
import { type FaultKind, InferOptError } from "../../base/errors.js";

export type WireError =
  | {
      readonly code: string;
      readonly kind: FaultKind;
      readonly message: string;
      readonly hint: string | null;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  /** A fault of our own or of a metric module: no code, the stack as it was over there. */
  | { readonly code: null; readonly message: string; readonly stack: string | null };

export function toWireError(thrown: unknown): WireError {
  if (thrown instanceof InferOptError) {
    const { code, kind, message, hint, fields } = thrown;
    const plain = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, plainField(value)]));
    return { code, kind, message, hint: hint ?? null, fields: plain };
  }
  if (thrown instanceof Error) return { code: null, message: thrown.message, stack: thrown.stack ?? null };
  return { code: null, message: String(thrown), stack: null };
}

export function fromWireError(wire: WireError): Error {
  if (wire.code !== null) {
    const { code, kind, message, hint, fields } = wire;
    return new InferOptError(code, kind, message, hint === null ? { fields } : { hint, fields });
  }
  const error = new Error(wire.message);
  if (wire.stack !== null) error.stack = wire.stack;
  return error;
}

/** Numbers, texts and lists of them pass; what cannot be cloned becomes text. */
function plainField(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainField);
  if (value === null || ["string", "number", "boolean", "bigint", "undefined"].includes(typeof value)) return value;
  return String(value);
}
