/** Conditions of loops, where they are known. */
import type { Value } from "../../ir/index.js";

/** Exporters hand values on by an Identity, which stays where it stands between input and output. */
export function behindIdentity(value: Value): Value {
  const node = value.producer;
  return node?.is("Identity") && node.graph === value.graph && node.inputs[0] ? behindIdentity(node.inputs[0]) : value;
}

export function boolOf(value: Value): boolean | null {
  if (value.constant?.dtype !== "bool" || value.constant.elementCount !== 1) return null;
  return value.constant.bytes()[0] !== 0;
}
