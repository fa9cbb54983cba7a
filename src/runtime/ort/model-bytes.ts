import { externalSource, isExternal, readModel } from "../../onnx/index.js";

/** Size of a model on disk, weights in other files included. Throws as `readModel` does. */
export function modelBytes(path: string): number {
  const model = readModel(path);
  const { message, sizeBytes } = model;
  return (message.graph?.initializer ?? [])
    .filter(isExternal)
    .reduce((sum, tensor) => sum + externalSource(model, tensor, null).byteLength, sizeBytes);
}
