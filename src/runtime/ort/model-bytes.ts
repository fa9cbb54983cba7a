import { externalSource, isExternal, readModel } from "../../onnx/index.js";

/** Size of a model on disk, weights in other files included. Throws as `readModel` does. */
export function modelBytes(path: string): number {
  const { message, sizeBytes } = readModel(path);
  return (message.graph?.initializer ?? [])
    .filter(isExternal)
    .reduce((sum, tensor) => sum + externalSource(path, tensor, null).byteLength, sizeBytes);
}
