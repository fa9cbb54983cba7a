/**
 * ScatterND(x, [places of the box], y)  =>  y                                   where the box is all of x
 *                                       =>  Pad(y)                              where x has one value
 *                                       =>  Concat(Slice(x), y, Slice(x))       else, and so on for further axes
 *
 *   y[..., ::2] = a; y[..., 1::2] = b   =>  Transpose(Concat(a, b) as [..., 2, n])
 *
 * The same for ScatterElements. What `x[:, :, 1:, 1:] = y` becomes: its kernel looks up a place for each element, or for each row of
 * the last axes, where the others copy all at once; and the nodes that count the places go.
 */
import { attr, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { type Size, subtract } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import { boundInputs, TO_THE_END } from "../slice-bounds.js";
import { type Box, boxOf, endOf, isWhole, type Span } from "./box.js";
import { fillOf } from "./fill.js";
import { interleaved, interleavedBy, isScatter } from "./interleaved.js";
import { alignedUpdates } from "./updates.js";

export const inlineAssignment = defineRewrite({
  name: "inline-assignment",
  summary: "Join what is written to a box of a tensor with what is around it",
  numerics: "exact",
  roots: ["ScatterND", "ScatterElements"],
  // Bounds and axes are inputs.
  minOpset: 13,
  rewrite(root, context) {
    const facts = context.shared(sizeFacts);
    const box = boxOf(root, facts);
    if (!box) return null;
    const { data, spans } = box;
    const partial = spans.flatMap((span, axis) => (isWhole(span) ? [] : [{ span, axis }]));
    const ends = partial.map(({ span }) => endOf(span));
    if (ends.includes(undefined)) {
      const parts = interleavedBy(root, box, facts);
      return parts && interleaved(parts, context);
    }
    if (partial.length === 0) return alignedUpdates(box, context);
    // Of what is written next to it, one Concat is made.
    const isLast = !root.output.uses.some((use) => use.kind === "input" && use.index === 0 && isScatter(use.node));
    const pads = isLast ? padsOf(spans) : null;
    const fill = pads && fillOf(data);
    if (fill && pads) return surrounded(alignedUpdates(box, context), pads, fill, context);
    if (isSmall(box)) return context.skip("so little is written that the kernel, in place, is faster");
    const cuts = partial.map(({ span: { start }, axis }, i): Cut => ({ axis, start, end: ends[i]! }));
    return joined(data, alignedUpdates(box, context), cuts, context);
  },
});

interface Cut {
  readonly axis: number;
  readonly start: number;
  /** Null for to the end. */
  readonly end: number | null;
}

/**
 * Whether looking up each place takes less than copying all of the tensor twice more: 27 ns beside 0.24 ns an element (onnxruntime
 * 1.30, Zen 3, tensors of 200,000 to 1,200,000 elements). Between Transposes it is the Transposes that cost. Sizes that are open count
 * for nothing in both.
 */
function isSmall({ data, spans, counted }: Box): boolean {
  const known = (sizes: readonly Size[]): number =>
    sizes.reduce<number>((product, size) => (typeof size === "number" ? product * size : product), 1);
  const elements = known(spans.map(({ size }) => size));
  const places = known(spans.slice(0, counted).map(({ count }) => count));
  return elements >= LARGE && elements > ELEMENTS_A_PLACE * places && !data.producer?.is("Transpose");
}

const ELEMENTS_A_PLACE = 112;
/** Below, it is nodes that cost. */
const LARGE = 1 << 16;

/** How many elements stand before and behind on each axis; null where that is not known. */
function padsOf(spans: readonly Span[]): number[] | null {
  const behind = spans.map(({ start, count, size }) => {
    const rest = subtract(size, count);
    return typeof rest === "number" ? rest - start : null;
  });
  return behind.includes(null) ? null : [...spans.map(({ start }) => start), ...(behind as number[])];
}

function surrounded(
  updates: Value,
  pads: readonly number[],
  fill: Tensor,
  { create, constant }: RewriteContext,
): Value {
  const amounts = constant("pads", Tensor.i64([pads.length], pads));
  const rank = pads.length / 2;
  const shape =
    updates.shape?.map((size, axis) => {
      const added = pads[axis]! + pads[axis + rank]!;
      return typeof size === "number" ? size + added : added === 0 ? size : null;
    }) ?? null;
  return create("Pad", [updates, amounts, constant("fill", fill)], {}, { types: [{ dtype: updates.dtype, shape }] })
    .output;
}

/** Along one axis after the other, that the parts around are large. */
function joined(data: Value, updates: Value, [cut, ...further]: readonly Cut[], context: RewriteContext): Value {
  const { axis, start, end } = cut!;
  const sliced = (from: number, to: number | null): Value => {
    const bounds = { starts: [BigInt(from)], ends: [to === null ? TO_THE_END : BigInt(to)], axes: [axis], steps: [1n] };
    const size = data.shape?.[axis];
    const known = typeof size === "number" ? (to ?? size) : null;
    const shape = data.shape?.with(axis, known === null ? null : known - from) ?? null;
    const types = [{ dtype: data.dtype, shape }];
    return context.create("Slice", [data, ...boundInputs(bounds, context.constant)], {}, { types }).output;
  };
  const within = further.length === 0 ? updates : joined(sliced(start, end), updates, further, context);
  const parts = [...(start > 0 ? [sliced(0, start)] : []), within, ...(end === null ? [] : [sliced(end, null)])];
  const types = [{ dtype: data.dtype, shape: data.shape }];
  return context.create("Concat", parts, { axis: attr.int(axis) }, { types }).output;
}
