/** A small model as the fuzzer keeps it, and the model that it stands for. */
import { fromOnnx, type Model, parseModel } from "../../src/ir/index.js";
import { decodeModel } from "../../src/onnx/index.js";
import { bytesOf } from "./session.js";

/** A model in text, with what the text does not say. */
export interface FuzzCase {
  readonly text: string;
  readonly opset: number;
  /** Constants that become inputs with a default, which callers can override. */
  readonly overridable: readonly string[];
  /** False: passes run without the types that the runtime would infer. */
  readonly typed: boolean;
}

/** As a file that is read: what is declared in it is known apart from what is found out. */
export const modelOf = (given: FuzzCase): Model => reread(bytesOf(builtModel(given)));

const reread = (bytes: Uint8Array): Model =>
  fromOnnx({ path: "", sizeBytes: bytes.length, message: decodeModel(bytes), ranges: [] });

function builtModel({ text, opset, overridable }: FuzzCase): Model {
  const model = parseModel(text, { opset });
  for (const value of model.graph.constants) {
    if (!overridable.includes(value.label) || !value.constant) continue;
    const input = model.graph.addInput(value.label, value.type, { defaultTensor: value.constant });
    model.graph.replaceUses(value, input);
    model.graph.removeConstant(value);
  }
  return model;
}
