import { InferOptError, messageOf } from "../base/errors.js";
import { likelyName } from "../base/nearest.js";

/** A pass name that a user gave and that no pass has. */
export function unknownPass(name: string, names: readonly string[]): InferOptError {
  const likely = likelyName(name, names);
  return new InferOptError("PASS_UNKNOWN", "usage", `there is no pass called "${name}"`, {
    hint:
      likely === null ? "`infer-opt passes` lists them." : `Did you mean "${likely}"? \`infer-opt passes\` lists them.`,
    fields: { pass: name },
  });
}

/** Our own fault inside a pass: says where, keeps the cause. Not for users' mistakes, which pass through as they are. */
export class PassFailure extends Error {
  override readonly name: string = "PassFailure";

  constructor(
    readonly pass: string,
    /** The root that was looked at, or null when the fault showed in the graph as a whole. */
    readonly node: string | null,
    cause: unknown,
  ) {
    super(`internal: pass ${pass} failed${node === null ? "" : ` at ${node}`}: ${messageOf(cause)}`, { cause });
  }
}
