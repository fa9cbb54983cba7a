import { InferOptError } from "../base/errors.js";
import { firstNotFinite } from "../base/finite.js";
import { ownEntry } from "../base/own-entry.js";
import { aligned, type Model, nodesWithin, type Tensor } from "../ir/index.js";
import { productWeight } from "../quantization/product-weight.js";
import { weightInputs } from "../target/integer-kernels.js";
import { pauser } from "./model-facts.js";

/**
 * For later, when the model may have changed already: throws MODEL_NOT_FINITE when a weight of a product, as they are
 * now, holds NaN or infinity. No scale can be made of it, and whatever it meets becomes NaN. Masks and other constants
 * may hold them.
 */
export function oddWeightsRefuser(model: Model): () => Promise<void> {
  const weights = [...nodesWithin(model.graph)].flatMap((node) => {
    const slots = node.domain === "" ? ownEntry(weightInputs, node.op) : undefined;
    return (slots ?? []).flatMap((slot) => {
      const value = (slot === 1 && productWeight(node)?.value) || node.inputs[slot];
      return value?.constant?.dtype === "f32"
        ? [{ tensor: value.constant, label: value.label, node: node.displayName }]
        : [];
    });
  });
  return async () => {
    const pause = pauser();
    for (const { tensor, label, node } of weights) {
      const odd = await firstOdd(tensor, pause);
      if (!odd) continue;
      const { at, element } = odd;
      throw new InferOptError(
        "MODEL_NOT_FINITE",
        "input",
        `weight "${label}" of ${node} holds ${element} at element ${at}`,
        {
          hint: "Training or the export went wrong: export a checkpoint whose weights are finite.",
          fields: { tensor: label, node, element: at },
        },
      );
    }
  };
}

/** Read in pieces, so that weights of any size fit. A piece holds whole elements: its size is a multiple of 4. */
async function firstOdd(
  tensor: Tensor,
  pause: ReturnType<typeof pauser>,
): Promise<{ at: number; element: number } | null> {
  let from = 0;
  for (const piece of tensor.byteSource.chunks()) {
    const elements = aligned(Float32Array, piece);
    const at = firstNotFinite(elements);
    if (at >= 0) return { at: from + at, element: elements[at]! };
    from += elements.length;
    await pause(piece.length);
  }
  return null;
}
