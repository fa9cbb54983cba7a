import type { Graph } from "./graph.js";
import type { Tensor, WireExtras } from "./tensor.js";

/** An attribute as ONNX types it. Integers stay 64-bit; strings stay bytes (they need not be text). */
export type Attribute = AttributeValue & {
  /** Doc string and unknown fields, kept for the writer. */
  readonly extras?: WireExtras;
};

export type AttributeValue =
  | { readonly type: "float"; readonly value: number }
  | { readonly type: "int"; readonly value: bigint }
  | { readonly type: "string"; readonly value: Uint8Array }
  | { readonly type: "tensor"; readonly value: Tensor }
  | { readonly type: "graph"; readonly value: Graph }
  | { readonly type: "floats"; readonly value: readonly number[] }
  | { readonly type: "ints"; readonly value: readonly bigint[] }
  | { readonly type: "strings"; readonly value: readonly Uint8Array[] }
  | { readonly type: "tensors"; readonly value: readonly Tensor[] }
  | { readonly type: "graphs"; readonly value: readonly Graph[] }
  /** Sparse tensors, types, references to function attributes: carried through as they came. */
  | { readonly type: "opaque"; readonly value: WireExtras };

/** Short form for the attributes that a rewrite gives to a new node. Integers and floats look alike in JavaScript, so they are said. */
export const attr = {
  int: (value: number | bigint): Attribute => ({ type: "int", value: BigInt(value) }),
  float: (value: number): Attribute => ({ type: "float", value: Math.fround(value) }),
  string: (value: string): Attribute => ({ type: "string", value: new TextEncoder().encode(value) }),
  strings: (values: readonly string[]): Attribute => ({
    type: "strings",
    value: values.map((value) => new TextEncoder().encode(value)),
  }),
  ints: (values: readonly (number | bigint)[]): Attribute => ({ type: "ints", value: values.map(BigInt) }),
  floats: (values: readonly number[]): Attribute => ({ type: "floats", value: values.map(Math.fround) }),
  tensor: (value: Tensor): Attribute => ({ type: "tensor", value }),
  graph: (value: Graph): Attribute => ({ type: "graph", value }),
};

/** The nested bodies of an attribute. */
export function graphsOf(attribute: Attribute): readonly Graph[] {
  if (attribute.type === "graph") return [attribute.value];
  return attribute.type === "graphs" ? attribute.value : [];
}
