/** An attribute as text: two attributes with one text say the same, to the bit. */
import type { Attribute } from "../ir/index.js";

/** Larger tensors are compared in other ways, or not at all. */
const LARGEST_BYTES = 256;

/** null for what has no short text: bodies, large tensors, references. */
export function textOf(attribute: Attribute): string | null {
  const bits = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));
  switch (attribute.type) {
    case "float":
      return bits(attribute.value);
    case "floats":
      return `[${attribute.value.map(bits).join()}]`;
    case "int":
      return `${attribute.value}`;
    case "ints":
      return `[${attribute.value.join()}]`;
    case "string":
      return Buffer.from(attribute.value).toString("hex");
    case "strings":
      return `[${attribute.value.map((text) => Buffer.from(text).toString("hex")).join()}]`;
    case "tensor": {
      const { dtype, dims, byteLength } = attribute.value;
      if (dtype === "string" || byteLength > LARGEST_BYTES) return null;
      return `${dtype}[${dims.join()}]${Buffer.from(attribute.value.bytes()).toString("hex")}`;
    }
    default:
      return null;
  }
}
