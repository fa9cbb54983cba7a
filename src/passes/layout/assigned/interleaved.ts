/**
 * Boxes of every second place, or every third, that are written one after the other until all places are:
 *
 *   y[..., 0::2] = a; y[..., 1::2] = b
 */
import { attr, type Node, type Shape, Tensor, type Value } from "../../../ir/index.js";
import type { RewriteContext } from "../../../rewrite/index.js";
import { type Size, symbolOf } from "../../fold/size.js";
import type { SizeFacts } from "../../fold/size-rules.js";
import { isNeverEmpty } from "../never-empty.js";
import { type Box, boxOf, isWhole } from "./box.js";
import { alignedUpdates } from "./updates.js";

export interface Interleaved {
  /** One for each offset, the last axis first to change. */
  readonly boxes: readonly Box[];
  /** Axes along which they alternate, in order, with how many there are and how many places each has. */
  readonly axes: readonly { readonly axis: number; readonly step: number; readonly count: number }[];
}

/** Null where some place is not written, or others than such boxes write. */
export function interleavedBy(last: Node, box: Box, facts: SizeFacts): Interleaved | null {
  const axes = alternating(box);
  const all = axes?.reduce((product, { step }) => product * step, 1) ?? 0;
  if (!axes || all < 2 || all > MOST_BOXES) return null;
  const boxes = new Array<Box | undefined>(all).fill(undefined);
  let [current, node]: [Box | null, Node] = [box, last];
  for (let written = 0, steps = 0; current && steps < MOST_TIMES * all; steps++) {
    const offset = axes.reduce((sum, { axis, step }) => sum * step + current!.spans[axis]!.start, 0);
    // What is written later stays.
    if (!boxes[offset]) written++;
    boxes[offset] ??= current;
    if (written === all) return { boxes: boxes as Box[], axes };
    const { producer }: Value = current.data;
    if (!producer || producer.graph !== node.graph || !isScatter(producer)) return null;
    node = producer;
    current = boxOf(node, facts);
    if (!isAlike(current && alternating(current), axes)) return null;
  }
  return null;
}

export const isScatter = ({ domain, op }: Node): boolean => domain === "" && scatters.has(op);

const scatters = new Set(["ScatterElements", "ScatterND"]);
const MOST_BOXES = 64;
/** What is written again and again is not followed to its start by each that writes it. */
const MOST_TIMES = 2;

function alternating({ spans }: Box): Interleaved["axes"] | null {
  const axes = spans.flatMap((span, axis) => (isWhole(span) ? [] : [{ ...span, axis }]));
  const found = axes.flatMap(({ axis, start, step, count, size }) =>
    typeof count === "number" && step > 1 && start < step && count * step === size ? [{ axis, step, count }] : [],
  );
  return found.length === axes.length ? found : null;
}

const isAlike = (one: Interleaved["axes"] | null, other: Interleaved["axes"]): boolean =>
  one?.length === other.length && one.every(({ axis, step }, i) => axis === other[i]!.axis && step === other[i]!.step);

/** One behind the other along the first axis, taken apart there, and each offset moved behind the axis that it is of. */
export function interleaved({ boxes, axes }: Interleaved, context: RewriteContext): Value | null {
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
    boxes.map((box) => alignedUpdates(box, context)),
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
