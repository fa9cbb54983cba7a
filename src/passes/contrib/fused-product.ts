/** MatMul and FusedMatMul seen alike: alpha * op(a) op(b), where op may exchange axes. */
import { attr, type Node, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { RUNTIME_DOMAIN } from "./domain.js";

/** What happens to the axes of an operand before it is multiplied. */
export interface OperandAxes {
  /** The last two change places. */
  readonly swapped: boolean;
  /** The first axis is no batch axis but the first of the matrix: [M, ...batch, K]. */
  readonly outer: boolean;
}

export interface Product {
  readonly node: Node;
  readonly operands: readonly [Value, Value];
  readonly axes: readonly [OperandAxes, OperandAxes];
  readonly alpha: number;
}

export const productOps = ["MatMul", `${RUNTIME_DOMAIN}::FusedMatMul`];

export const plainAxes: OperandAxes = { swapped: false, outer: false };

/** A node as a product of two tensors, or null when it is none. */
export function productOf(node: Node): Product | null {
  const [a, b] = node.inputs;
  if (!productOps.includes(node.opName) || !a || !b) return null;
  const axes = (side: "A" | "B"): OperandAxes => ({
    swapped: node.int(`trans${side}`, 0) !== 0,
    outer: node.int(`transBatch${side}`, 0) !== 0,
  });
  return { node, operands: [a, b], axes: [axes("A"), axes("B")], alpha: node.float("alpha", 1) };
}

/** The product behind a value that nobody else reads. */
export function soleProduct(value: Value | null | undefined): Product | null {
  for (const op of productOps) {
    const node = soleProducer(value, op);
    if (node) return productOf(node);
  }
  return null;
}

/** Attributes are written where they differ from what they are by default. */
export function createProduct({ create }: RewriteContext, { node, operands, axes, alpha }: Product): Node {
  const [a, b] = axes;
  return create(
    "FusedMatMul",
    operands,
    {
      ...(alpha !== 1 && { alpha: attr.float(alpha) }),
      ...(a.swapped && { transA: attr.int(1) }),
      ...(b.swapped && { transB: attr.int(1) }),
      ...(a.outer && { transBatchA: attr.int(1) }),
      ...(b.outer && { transBatchB: attr.int(1) }),
    },
    { domain: RUNTIME_DOMAIN, like: node },
  );
}
