/** The domain of the operators that only ONNX Runtime has; all that the fusions of this room make are of its version 1. */
export const RUNTIME_DOMAIN = "com.microsoft";
