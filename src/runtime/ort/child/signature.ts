/**
 * What goes into and comes out of a session. The binding's metadata has two gaps: an
 * unknown rank reads as a scalar, and a port of a type that it cannot pass makes it
 * refuse the whole model. What a file declares of its ports fills them, see `describe`.
 */
import type { InferenceSession } from "onnxruntime-node";
import { type Dim, dtypeOfCode } from "../../../ir/index.js";
import { longToBigint, readModel, type ValueInfoProto } from "../../../onnx/index.js";
import type { ModelSignature, PortInfo } from "../../port.js";
import { dtypeOfName } from "./tensors.js";

export function signatureOf(session: InferenceSession): ModelSignature {
  return { inputs: session.inputMetadata.map(portOf), outputs: session.outputMetadata.map(portOf) };
}

/** A scalar by the binding's word, which may as well be a tensor of unknown rank. */
export const isDoubtful = ({ shape }: PortInfo): boolean => shape?.length === 0;

/** The signature with the ranks of its inputs settled by the model file that was loaded. */
export function withInputRanksOf(modelPath: string, signature: ModelSignature): ModelSignature {
  if (!signature.inputs.some(isDoubtful)) return signature;
  const stated = new Map(signatureOfFile(modelPath).inputs.map((port) => [port.name, port.shape]));
  const inputs = signature.inputs.map((port) => (stated.get(port.name) === null ? { ...port, shape: null } : port));
  return { ...signature, inputs };
}

/** The ports as a model file declares them; outputs may be declared without a type. Throws as `readModel` does. */
export function signatureOfFile(modelPath: string): ModelSignature {
  const graph = readModel(modelPath).message.graph ?? {};
  const initialized = new Set((graph.initializer ?? []).map(({ name }) => name ?? ""));
  return {
    // Until IR version 3 every initializer was listed as an input too.
    inputs: (graph.input ?? []).filter(({ name }) => !initialized.has(name ?? "")).map(portOfFile),
    outputs: (graph.output ?? []).map(portOfFile),
  };
}

function portOf(metadata: InferenceSession.ValueMetadata): PortInfo {
  if (!metadata.isTensor) return { name: metadata.name, dtype: null, shape: null };
  // A dimension without a size and without a name comes as "".
  const shape = metadata.shape.map((dim): Dim => (dim === "" ? null : dim));
  return { name: metadata.name, dtype: dtypeOfName(metadata.type), shape };
}

function portOfFile({ name = "", type }: ValueInfoProto): PortInfo {
  const tensor = type?.tensor_type;
  if (!tensor) return { name, dtype: null, shape: null };
  const shape = tensor.shape
    ? (tensor.shape.dim ?? []).map((dim): Dim => {
        // A decoded message has defaults behind what it holds: an unstated size reads as 0.
        if (dim.dim_value !== undefined && Object.hasOwn(dim, "dim_value")) return Number(longToBigint(dim.dim_value));
        return dim.dim_param || null;
      })
    : null;
  return { name, dtype: dtypeOfCode(tensor.elem_type ?? 0), shape };
}
