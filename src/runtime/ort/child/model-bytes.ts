import { externalSource, isExternal, isLinked, readModel, type TensorProto } from "../../../onnx/index.js";

/** Size of a model on disk, weights in other files included. Throws as `readModel` does. */
export function modelBytes(path: string): number {
  const { message, sizeBytes } = readModel(path);
  // The places of a linked model are its writer's own: there is nothing to check.
  const bytesOf = isLinked(path)
    ? statedLength
    : (tensor: TensorProto) => externalSource(path, tensor, null).byteLength;
  return (message.graph?.initializer ?? [])
    .filter(isExternal)
    .reduce((sum, tensor) => sum + bytesOf(tensor), sizeBytes);
}

const statedLength = ({ external_data }: TensorProto): number =>
  Number(external_data?.find(({ key }) => key === "length")?.value ?? 0);
