/**
 * A table whose rows are made integers as they are:
 *
 *   Q(Transpose(Gather(T, i)))  =>  Transpose(Gather(Q(T), i))
 *
 * The same integers, since each element is rounded by itself, and nothing left to compute: a table with a scale for each row would be
 * widened and rounded again.
 */
import { type Node, soleReader, Tensor, type Value } from "../ir/index.js";
import { movers } from "./movers.js";
import { type ActivationScheme, schemeOf } from "./scheme.js";
import type { WeightStore } from "./weight-store.js";
import { roundHalfEven } from "./weights.js";

const limits = { u8: [0, 255], i8: [-128, 127] } as const;

/**
 * Replaces the table, [rows, ...], of a look-up whose result is nothing but converted; false where there is more to it, or others have
 * the table too, which would be stored twice.
 *
 * @param store where those had it that are integers by now
 */
export function quantizeInScale(lookUp: Node, store: Pick<WeightStore, "has">): boolean {
  const table = lookUp.inputs[0]!;
  const found = table.useCount === 1 && !store.has(table) ? conversionBehind(lookUp.output) : null;
  if (!found) return false;
  const { quantize, scheme, dtype, moved } = found;
  const integers = integersOf(table.constant!, scheme, dtype);
  lookUp.graph.setInput(lookUp, 0, table.graph.addConstant(`${table.label}/quantized`, integers));
  for (const value of moved) {
    value.type = { dtype, shape: value.shape };
    value.label = `${value.label}/quantized`;
  }
  const { graph, output } = quantize;
  const last = moved.at(-1)!;
  const { label } = output;
  graph.replaceUses(output, last);
  graph.removeNode(quantize);
  last.label = label;
  return true;
}

interface Conversion {
  readonly quantize: Node;
  readonly scheme: ActivationScheme;
  readonly dtype: keyof typeof limits;
  /** What the look-up makes, and what only moves it. */
  readonly moved: readonly Value[];
}

function conversionBehind(looked: Value): Conversion | null {
  const moved = [looked];
  for (let value = looked; ; value = moved.at(-1)!) {
    const reader = soleReader(value);
    if (reader?.inputs[0] !== value || reader.domain !== "") return null;
    const scheme = reader.is("QuantizeLinear") ? schemeOf(reader) : null;
    const { dtype } = reader.output;
    if (scheme) return dtype === "u8" || dtype === "i8" ? { quantize: reader, scheme, dtype, moved } : null;
    if (!movers.has(reader.op)) return null;
    moved.push(reader.output);
  }
}

/** As a QuantizeLinear rounds: quotients in float32, halves to even. */
function integersOf(table: Tensor, { scale, zeroPoint }: ActivationScheme, dtype: keyof typeof limits): Tensor {
  const values = table.f32();
  const [first, last] = limits[dtype];
  const integers = new (dtype === "u8" ? Uint8Array : Int8Array)(values.length);
  for (let i = 0; i < values.length; i++) {
    const rounded = roundHalfEven(Math.fround(values[i]! / scale)) + zeroPoint;
    integers[i] = Math.min(last, Math.max(first, rounded));
  }
  return Tensor.ofArray(dtype, table.dims, integers);
}
