import { type ErrorDetails, InferOptError } from "../base/errors.js";

/** A graph that breaks ONNX's rules, as read from a file. Codes: GRAPH_CYCLE, GRAPH_DANGLING, GRAPH_DUPLICATE, GRAPH_INVALID. */
export const graphError = (code: string, message: string, details: ErrorDetails = {}): InferOptError =>
  new InferOptError(code, "input", message, { hint: "The export is broken: export the model again.", ...details });
