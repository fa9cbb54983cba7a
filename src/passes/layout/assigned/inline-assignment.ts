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
import { attr, type Shape, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { areSame, type Size, subtract, symbolOf } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import { isNeverEmpty } from "../never-empty.js";
import { boundInputs, TO_THE_END } from "../slice-bounds.js";
import { type Box, boxOf, endOf, isWhole, type Span } from "./box.js";
import { fillOf } from "./fill.js";
import { type Interleaved, interleavedBy, isScatter } from "./interleaved.js";

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
    if (partial.length === 0) return shaped(box, context);
    // Of what is written next to it, one Concat is made.
    const isLast = !root.output.uses.some((use) => use.kind === "input" && use.index === 0 && isScatter(use.node));
    const fill = isLast ? fillOf(data) : null;
    const pads = fill && padsOf(spans);
    if (fill && pads) return padded(shaped(box, context), pads, fill, context);
    if (isSmall(box)) return context.skip("so little is written that the kernel, in place, is faster");
    const cuts = partial.map(({ span: { start }, axis }, i): Cut => ({ axis, start, end: ends[i]! }));
    return joined(data, shaped(box, context), cuts, context);
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
 * 1.30, Zen 3, tensors of 200,000 to 1,200,000 elements). Between Transposes it is the Transposes that cost.
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

const axesInput = ({ constant }: RewriteContext, axes: readonly number[]): Value =>
  constant("axes", Tensor.i64([axes.length], axes));

/** With the axes of the tensor that they go into. */
function shaped({ updates, extra, missing }: Box, context: RewriteContext): Value {
  const without = updates.shape?.filter((_, axis) => !extra.includes(axis)) ?? null;
  const squeezed =
    extra.length === 0
      ? updates
      : context.create(
          "Squeeze",
          [updates, axesInput(context, extra)],
          {},
          {
            types: [{ dtype: updates.dtype, shape: without }],
          },
        ).output;
  if (missing.length === 0) return squeezed;
  const rest = without && [...without];
  const shape =
    rest &&
    Array.from({ length: rest.length + missing.length }, (_, axis) => (missing.includes(axis) ? 1 : rest.shift()!));
  const types = [{ dtype: updates.dtype, shape }];
  return context.create("Unsqueeze", [squeezed, axesInput(context, missing)], {}, { types }).output;
}

/** How many elements stand before and behind on each axis; null where that is not known. */
function padsOf(spans: readonly Span[]): number[] | null {
  const behind = spans.map(({ start, count, size }) => {
    const rest = areSame(count, size) ? 0 : subtract(size, count);
    return typeof rest === "number" ? rest - start : null;
  });
  return behind.includes(null) ? null : [...spans.map(({ start }) => start), ...(behind as number[])];
}

function padded(updates: Value, pads: readonly number[], fill: Tensor, { create, constant }: RewriteContext): Value {
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
    const known = to ?? (typeof size === "number" ? size : null);
    const shape = data.shape?.with(axis, known === null ? null : known - from) ?? null;
    const types = [{ dtype: data.dtype, shape }];
    return context.create("Slice", [data, ...boundInputs(bounds, context.constant)], {}, { types }).output;
  };
  const within = further.length === 0 ? updates : joined(sliced(start, end), updates, further, context);
  const parts = [...(start > 0 ? [sliced(0, start)] : []), within, ...(end === null ? [] : [sliced(end, null)])];
  const types = [{ dtype: data.dtype, shape: data.shape }];
  return context.create("Concat", parts, { axis: attr.int(axis) }, { types }).output;
}

/** One behind the other along the first axis, taken apart there, and each offset moved behind the axis that it is of. */
function interleaved({ boxes, axes }: Interleaved, context: RewriteContext): Value | null {
  const { create, constant } = context;
  const { data, spans } = boxes[0]!;
  const [first] = axes as [Interleaved["axes"][number]];
  const [dtype, before] = [data.dtype, first.axis];
  // Sizes in front are copied; those behind are written, but for one, which is inferred of elements that must be there.
  const open = spans.slice(before).flatMap(({ size }) => (typeof size === "number" ? [] : [symbolOf(size)]));
  const needed = open.length > 0 ? spans : spans.slice(before);
  const areThere = needed.every(({ size }) =>
    isNeverEmpty(typeof size === "number" ? size : symbolOf(size), 0, context),
  );
  if (open.length > 1 || !areThere) return null;
  const written = (size: Size): number => (typeof size === "number" ? size : -1);
  const inner = spans.slice(before).map(({ count }) => written(count));
  const outer = spans.slice(before).map(({ size }) => written(size));
  const front = data.shape?.slice(0, before) ?? null;
  const shapeOf = (sizes: readonly number[]): Shape | null =>
    front && [...front, ...sizes.map((size) => (size < 0 ? open[0]! : size))];
  const reshaped = (value: Value, sizes: readonly number[]): Value => {
    const shape = [...new Array<number>(before).fill(0), ...sizes];
    const target = constant("shape", Tensor.i64([shape.length], shape));
    return create("Reshape", [value, target], {}, { types: [{ dtype, shape: shapeOf(sizes) }] }).output;
  };
  const [depth, ...rest] = inner;
  const all = create(
    "Concat",
    boxes.map((box) => shaped(box, context)),
    { axis: attr.int(before) },
    {
      types: [{ dtype, shape: shapeOf([boxes.length * depth!, ...rest]) }],
    },
  ).output;
  const steps = axes.map(({ step }) => step);
  const apart = reshaped(all, [...steps, ...inner]);
  const order = inner.flatMap((_, i) => {
    const offset = axes.findIndex(({ axis }) => axis === before + i);
    return [before + steps.length + i, ...(offset < 0 ? [] : [before + offset])];
  });
  const perm = [...Array.from({ length: before }, (_, axis) => axis), ...order];
  const sizes = [...steps, ...inner];
  const moved = create(
    "Transpose",
    [apart],
    { perm: attr.ints(perm) },
    {
      types: [{ dtype, shape: shapeOf(order.map((axis) => sizes[axis - before]!)) }],
    },
  ).output;
  return reshaped(moved, outer);
}
