/**
 * How a tensor of attention is spread over heads. The runtime's kernels read [B, S, H * D]
 * directly; exporters split and transpose it to [B, H, S, D] first.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, constantScalar, givenAxes, producerOf } from "../../rewrite/match.js";
import { areSame, type Size } from "../fold/size.js";

export type SizesOf = (value: Value | null | undefined) => readonly Size[] | null;

/** One of query, key and value: the tensor as [B, H, S, D], the same before its transposition, or both. */
export interface Heads {
  /** [B, H, S, D]; null where only one of the others exists. */
  readonly headsFirst: Value | null;
  /** [B, S, H, D]. */
  readonly tokensFirst: Value | null;
  /** Where query, key and value come out of one tensor. */
  readonly slot: Slot | null;
  readonly batch: Size;
  readonly heads: Size;
  readonly length: Size;
  /** D. */
  readonly width: Size;
}

/** One third of a tensor [B, S, 3 * H * D] that holds query, key and value side by side. */
export interface Slot {
  readonly source: Value;
  readonly index: number;
}

const isPerm = (node: Node | null, perm: readonly number[]): node is Node => node?.ints("perm")?.join() === perm.join();

/** The transposition that puts heads before tokens, or back. */
export function swapsHeads(value: Value | null | undefined): Node | null {
  const node = value ? producerOf(value, "Transpose", value.graph) : null;
  return isPerm(node, [0, 2, 1, 3]) ? node : null;
}

/** Query or value, [B, H, S, D]. */
export function headsOf(value: Value, sizesOf: SizesOf): Heads | null {
  const sizes = sizesOf(value);
  if (sizes?.length !== 4) return null;
  const [batch, heads, length, width] = sizes as readonly [Size, Size, Size, Size];
  const tokensFirst = swapsHeads(value)?.inputs[0] ?? null;
  const slot = tokensFirst ? null : slotOf(elementOf(value, sizesOf), sizesOf);
  return { headsFirst: value, tokensFirst, slot, batch, heads, length, width };
}

/** Element i along the first axis of Transpose<2, 0, 3, 1, 4>(Reshape(x, [B, S, 3, H, D])). */
function slotOf(element: Slot | null, sizesOf: SizesOf): Slot | null {
  const transpose = element && producerOf(element.source, "Transpose", element.source.graph);
  const split = isPerm(transpose, [2, 0, 3, 1, 4]) ? producerOf(transpose.inputs[0], "Reshape", transpose.graph) : null;
  const source = split?.inputs[0];
  const [from, to] = [sizesOf(source), sizesOf(split?.output)];
  if (!element || !source || from?.length !== 3 || to?.length !== 5 || to[2] !== 3) return null;
  const [, , , heads, width] = to;
  const isSplit = typeof heads === "number" && typeof width === "number" && from[2] === 3 * heads * width;
  const keeps = areSame(from[0], to[0]) || areSame(from[1], to[1]);
  return isSplit && keeps ? { source, index: element.index } : null;
}

/** x[i] along the first axis, by Gather, or by Slice or Split and Squeeze. */
function elementOf(value: Value, sizesOf: SizesOf): Slot | null {
  const { graph } = value;
  const gather = producerOf(value, "Gather", graph);
  if (gather) {
    const index = gather.inputs[1]?.shape?.length === 0 ? constantScalar(gather.inputs[1]) : null;
    const isFirst = gather.int("axis", 0) === 0 && index !== null && index >= 0;
    return isFirst ? { source: gather.inputs[0]!, index } : null;
  }
  const squeeze = producerOf(value, "Squeeze", graph);
  const axes = squeeze && givenAxes(squeeze);
  return axes?.join() === "0" ? partOf(squeeze!.inputs[0]!, sizesOf) : null;
}

/** x[i : i + 1] along the first axis, by Slice or Split. */
function partOf(part: Value, sizesOf: SizesOf): Slot | null {
  const { graph } = part;
  const slice = producerOf(part, "Slice", graph);
  if (slice) {
    const [starts, ends, along, steps] = slice.inputs.slice(1).map(constantIntegers);
    const isOne = starts?.length === 1 && starts[0]! >= 0 && ends?.[0] === starts[0]! + 1;
    const isFirst = along?.join() === "0" && (!slice.inputs[4] || steps?.join() === "1");
    return isOne && isFirst ? { source: slice.inputs[0]!, index: starts[0]! } : null;
  }
  const split = part.producer;
  if (!split?.is("Split") || split.graph !== graph || split.int("axis", 0) !== 0) return null;
  const isEven = split.outputs.every((output) => sizesOf(output)?.[0] === 1);
  return isEven ? { source: split.inputs[0]!, index: split.outputs.indexOf(part) } : null;
}

/** The key, when what is multiplied is its transpose [B, H, D, S]. */
export function headsOfTransposed(value: Value, sizesOf: SizesOf): Heads | null {
  const node = producerOf(value, "Transpose", value.graph);
  const source = node?.inputs[0] ?? null;
  if (isPerm(node, [0, 1, 3, 2])) return source && headsOf(source, sizesOf);
  const sizes = sizesOf(source);
  if (isPerm(node, [0, 2, 3, 1]) && sizes?.length === 4) {
    const [batch, length, heads, width] = sizes as readonly [Size, Size, Size, Size];
    return { headsFirst: null, tokensFirst: source, slot: null, batch, heads, length, width };
  }
  return transposedAsMatrices(value, sizesOf);
}

/** Reshape(Transpose<0, 2, 1>(Reshape(k, [B * H, S, D])), [B, H, D, S]): the same, with the heads folded into the batch. */
function transposedAsMatrices(value: Value, sizesOf: SizesOf): Heads | null {
  const unfold = producerOf(value, "Reshape", value.graph);
  const swap = unfold && producerOf(unfold.inputs[0], "Transpose", value.graph);
  const fold = isPerm(swap ?? null, [0, 2, 1]) ? producerOf(swap!.inputs[0], "Reshape", value.graph) : null;
  const source = fold?.inputs[0];
  const [whole, matrices, to] = [sizesOf(source), sizesOf(fold?.output), sizesOf(value)];
  if (!source || !whole || matrices?.length !== 3 || to?.length !== 4) return null;
  const isPart = whole.length === 5 && whole[0] === 1;
  const from = isPart ? whole.slice(1) : whole;
  if (from.length !== 4) return null;
  const keeps = areSame(from[2], matrices[1]) && areSame(from[3], matrices[2]);
  const restores = areSame(to[2], matrices[2]) && areSame(to[3], matrices[1]);
  // The product of batch and heads stays: one of them the same makes the other the same.
  const isSame = areSame(from[0], to[0]) || areSame(from[1], to[1]);
  if (!keeps || !restores || !isSame) return null;
  if (!isPart) return headsOf(source, sizesOf);
  const slot = slotOf(partOf(source, sizesOf), sizesOf);
  const [batch, heads, length, width] = from as [Size, Size, Size, Size];
  return slot && { headsFirst: null, tokensFirst: null, slot, batch, heads, length, width };
}

/**
 * Key or value of which each head serves several of the query:
 *
 *   Reshape(Expand(Unsqueeze(x: [B, K, S, D], 2), [B, K, R, S, D]), [B, K * R, S, D])
 */
export function unrepeated(value: Value, sizesOf: SizesOf): Value {
  const merge = producerOf(value, "Reshape", value.graph);
  const expand = merge && producerOf(merge.inputs[0], "Expand", value.graph);
  const split = expand && producerOf(expand.inputs[0], "Unsqueeze", value.graph);
  const source = split?.inputs[0];
  if (!source || !expand || givenAxes(split)?.join() !== "2") return value;
  const [from, wide, to] = [sizesOf(source), sizesOf(expand.output), sizesOf(value)];
  if (from?.length !== 4 || wide?.length !== 5 || to?.length !== 4) return value;
  const keeps = [0, 1, 3, 4].every((axis) => areSame(wide[axis], from[axis < 2 ? axis : axis - 1]));
  const merges = [0, 2, 3].every((axis) => areSame(to[axis], from[axis]));
  return keeps && merges ? source : value;
}

/** [B, S, H * D] of [B, S, H, D]: the tensor that was split, or a Reshape that merges the heads again. */
export function mergedHeads(x: Heads, sizesOf: SizesOf, { create, constant }: RewriteContext): Value | null {
  const { tokensFirst, heads, width } = x;
  if (!tokensFirst || typeof heads !== "number" || typeof width !== "number") return null;
  const split = producerOf(tokensFirst, "Reshape", tokensFirst.graph);
  const source = split?.inputs[0];
  const [from, to] = [sizesOf(source), sizesOf(tokensFirst)];
  const isSplit =
    from?.length === 3 && from[2] === heads * width && (areSame(from[0], to?.[0]) || areSame(from[1], to?.[1]));
  if (source && isSplit) return source;
  const shape = constant(`${tokensFirst.label}.merged`, Tensor.i64([3], [0, 0, heads * width]));
  const [batch, length] = [tokensFirst.shape?.[0] ?? null, tokensFirst.shape?.[1] ?? null];
  const type = { dtype: tokensFirst.dtype, shape: [batch, length, heads * width] };
  return create("Reshape", [tokensFirst, shape], {}, { types: [type] }).output;
}

/** The three parts of a tensor that holds query, key and value side by side; null unless all three are in one, and nothing else. */
export function partsOfOne(parts: readonly Heads[], { create, opset }: RewriteContext): Value[] | null {
  const slots = parts.map(({ slot }) => slot);
  const source = slots[0]?.source;
  if (!source || slots.some((slot) => slot?.source !== source) || new Set(slots.map((slot) => slot!.index)).size !== 3)
    return null;
  const types = [0, 1, 2].map(() => ({
    dtype: source.dtype,
    shape: source.shape && [...source.shape.slice(0, 2), (parts[0]!.heads as number) * (parts[0]!.width as number)],
  }));
  const labels = ["q", "k", "v"].map((name) => `${source.label}.${name}`);
  // Up to opset 17 the number of outputs alone said how many equal parts there are.
  const attributes = { axis: attr.int(-1), ...(opset >= 18 && { num_outputs: attr.int(3) }) };
  const split = create("Split", [source], attributes, { labels, types });
  return slots.map((slot) => split.outputs[slot!.index]!);
}

/** [B, H, S, D], transposed again where only [B, S, H, D] exists; null where neither does. */
export function headsFirstOf(x: Heads, { create }: RewriteContext): Value | null {
  if (x.headsFirst) return x.headsFirst;
  const source = x.tokensFirst;
  if (!source) return null;
  const shape = source.shape && [0, 2, 1, 3].map((axis) => source.shape![axis] ?? null);
  const type = { dtype: source.dtype, shape };
  return create("Transpose", [source], { perm: attr.ints([0, 2, 1, 3]) }, { types: [type] }).output;
}
