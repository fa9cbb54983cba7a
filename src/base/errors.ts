import { inspect } from "node:util";

/** What kind of fault a code belongs to; the command line maps it to an exit code. */
export type FaultKind = "usage" | "input" | "runtime" | "interrupted";

export interface ErrorDetails {
  /** One sentence: what to do next. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Facts about the fault, by name, for machines. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/**
 * Someone's mistake or a foreign failure, told in words: a stable code, a message
 * that names the offending thing and its value, and the next step. Faults of our
 * own are plain errors raised by `invariant`.
 */
export class InferOptError extends Error {
  override readonly name: string = "InferOptError";
  readonly hint: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    readonly code: string,
    readonly kind: FaultKind,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.hint = details.hint;
    this.fields = details.fields ?? {};
  }
}

/** Somebody's mistake or a failure that was told; not an interrupt, which ends everything, nor a fault of ours. */
export const isFault = (thrown: unknown): thrown is InferOptError =>
  thrown instanceof InferOptError && thrown.kind !== "interrupted";

/** What went wrong with an action, told in words; null where nothing did. Throws what is no such fault. */
export async function faultOf(action: () => Promise<unknown>): Promise<InferOptError | null> {
  try {
    await action();
    return null;
  } catch (thrown) {
    if (isFault(thrown)) return thrown;
    throw thrown;
  }
}

/** States what must be true if our own code is right. Throws a plain error starting `internal:`. */
export function invariant(claim: unknown, message: string): asserts claim {
  if (!claim) throw new Error(`internal: ${message}`);
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  // Not String(): an object need not have a text.
  return typeof thrown === "string" ? thrown : inspect(thrown, { depth: 0 });
}
