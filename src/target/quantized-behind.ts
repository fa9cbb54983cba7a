import { soleReader, type Value } from "../ir/index.js";

/** Whether a QuantizeLinear alone reads a value, perhaps behind a Relu or Clip. */
export function isQuantizedBehind(value: Value): boolean {
  const reader = soleReader(value);
  if (!reader) return false;
  return reader.is("QuantizeLinear") || ((reader.is("Relu") || reader.is("Clip")) && isQuantizedBehind(reader.output));
}
