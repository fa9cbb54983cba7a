/**
 * The constant matrix that a product has on its right: as it is stored, or behind a Transpose, as
 * where one table is looked up at a model's beginning and multiplied by at its end (tied weights).
 */
import { attr, type Node, Tensor, type Value } from "../ir/index.js";
import { isLookUp } from "./embedding.js";
import { isTurnedGemm } from "./gemm.js";
import type { StoredWeight } from "./weight-store.js";

export interface ProductWeight {
  readonly value: Value;
  /** Whether it is stored as [n, k]. */
  readonly isTurned: boolean;
  /** Whether its integers keep the layout: there is another reader of the same, or a Transpose that turns it. */
  readonly isShared: boolean;
}

/** Null where the second factor is no constant, or turned in another way. */
export function productWeight(node: Node): ProductWeight | null {
  const weight = node.inputs[1];
  if (!weight || !(node.is("MatMul") || node.is("Gemm"))) return null;
  if (weight.constant) {
    const isTurned = isTurnedGemm(node);
    return { value: weight, isTurned, isShared: isTurned && isLookedUp(weight) };
  }
  const turned = node.is("MatMul") && weight.producer?.is("Transpose") ? weight.producer : null;
  const value = turned?.inputs[0];
  if (!turned || value?.constant?.dims.length !== 2) return null;
  const [first, second] = turned.ints("perm") ?? [1, 0];
  return first === 1 && second === 0 ? { value, isTurned: true, isShared: true } : null;
}

const isLookedUp = (value: Value): boolean => value.uses.some((use) => use.kind === "input" && isLookUp(use.node));

/**
 * Columns [k, n] and their scales [n] of what is stored as rows, [n, k] and [n, 1]: computed once, when the runtime loads the model.
 * @param before new nodes stand before it
 */
export function columnsFrom({ integers, scale }: StoredWeight, before: Node): Pick<StoredWeight, "integers" | "scale"> {
  const { graph, name, provenance } = before;
  const [n = null, k = null] = integers.shape ?? [];
  const add = (op: string, inputs: Value[], from: Value, shape: Value["shape"], attributes = {}): Value => {
    const outputs = [{ label: `${from.label}/turned`, type: { dtype: from.dtype!, shape } }];
    return graph.addNode({ op, name: `${name}/${op}`, inputs, attributes, outputs, provenance }, before).output;
  };
  const flat = graph.addConstant(`${scale.label}/flat`, Tensor.i64([1], [-1]));
  return {
    integers: add("Transpose", [integers], integers, [k, n], { perm: attr.ints([1, 0]) }),
    scale: add("Reshape", [scale, flat], scale, [n]),
  };
}

/** Takes out what turned a product's weights when the product was all that read it. */
export function removeUnreadTranspose(weight: Value): void {
  const node = weight.producer;
  if (node?.is("Transpose") && weight.useCount === 0) node.graph.removeNode(node);
}
