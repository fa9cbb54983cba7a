import type { OutputConfig } from "../config.js";

/** Where a candidate is kept that missed a limit: OUT.rejected.onnx; null where it is not kept. */
export const rejectedPath = ({ output, keepRejected }: Pick<OutputConfig, "output" | "keepRejected">): string | null =>
  output !== null && keepRejected ? `${output.replace(/\.onnx$/i, "")}.rejected.onnx` : null;
