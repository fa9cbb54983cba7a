import { InferOptError } from "../base/errors.js";

/** Code: TARGET_UNKNOWN. */
export const targetUnknown = (name: string, known: string): InferOptError =>
  new InferOptError("TARGET_UNKNOWN", "usage", `there is no target "${name}"`, {
    hint: `Targets are ${known}.`,
    fields: { target: name },
  });
