import { type ErrorDetails, InferOptError } from "../base/errors.js";

/** A fault in someone's data. `code` starts with DATASET_; the hint says what to do next. */
export const datasetError = (
  code: `DATASET_${string}`,
  message: string,
  hint: string,
  details: Omit<ErrorDetails, "hint"> = {},
): InferOptError => new InferOptError(code, "input", message, { ...details, hint });
