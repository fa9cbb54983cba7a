/** Raising the opset where that may fail: an operator that cannot follow is a reason to leave it, not an error. */
import { InferOptError } from "../base/errors.js";
import { type Model, opsetOf } from "../ir/index.js";
import { convertOpset } from "../passes/opset/convert-opset.js";

/** Gelu (20), GroupNormalization (21) and RMSNormalization (23) have CPU kernels in ONNX Runtime 1.30. */
const NEWEST_FOR_RUNTIME = 23;

/** Raises the opset in place; answers why it stays, null when it is raised. */
export function raiseOpset(model: Model, version: number): string | null {
  try {
    convertOpset(model, version);
    return null;
  } catch (thrown) {
    const stays = ["OPSET_UNCONVERTIBLE", "OPSET_UNSUPPORTED"];
    if (thrown instanceof InferOptError && stays.includes(thrown.code)) return thrown.message;
    throw thrown;
  }
}

/** The same, up to the newest opset that the target knows, for models that state an opset. */
export const opsetRaiser =
  (maxOpset = NEWEST_FOR_RUNTIME) =>
  (model: Model, version: number): string | null => {
    if (version > maxOpset) return `the target knows opsets up to ${maxOpset}`;
    if (!model.opsets.has("")) return "the model states no opset of ai.onnx";
    return opsetOf(model) < version ? raiseOpset(model, version) : null;
  };
