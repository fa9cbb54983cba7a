/** A product with one positive number: integers stay what they are, and their scale takes it in. */
import { type Node, soleReader } from "../ir/index.js";

export interface Scaling {
  /** Place of the input that is scaled. */
  readonly slot: 0 | 1;
  /** Positive. */
  readonly factor: number;
}

/** Scales multiplied by more, or by less than one over it, may not be normal numbers any more. */
const MOST = 2 ** 20;

/** Of a Mul or Div; null where it is none, or where an activation behind it would need a range of its own. */
export function scalingOf(node: Node): Scaling | null {
  if (!node.is("Mul") && !node.is("Div")) return null;
  const slot = node.inputs[1]?.constant ? 0 : 1;
  if (slot === 1 && node.is("Div")) return null;
  const [value, number] = [node.inputs[slot], node.inputs[1 - slot]?.constant];
  const rank = value?.shape?.length;
  if (!value || value.constant || rank === undefined) return null;
  if (number?.elementCount !== 1 || number.dims.length > rank) return null;
  const own = number.toF32()?.[0] ?? Number.NaN;
  const factor = node.is("Div") ? 1 / own : own;
  const behind = soleReader(node.output);
  if (!(factor >= 1 / MOST && factor <= MOST) || behind?.is("Relu") || behind?.is("Clip")) return null;
  return { slot, factor };
}
