/**
 * The mask of an Attention out of what was added to the scores or chosen by Where.
 *
 * Two things that the runtime's kernel does not do. It does not stretch the last two axes of
 * a mask, so they are expanded where they may be 1. And the weights of a row that hides
 * every key by the lowest number of f32, or by -inf, come out as zeros; written out they are
 * the mean of the keys, or NaN. Exporters hide by both, so:
 *
 * - constants that low become -1e30, which hides as well, where no other number is as low;
 * - a mask that leaves a key visible in every row for sure stays as it is;
 * - any other has its rows moved by a small part of their greatest number, which changes no
 *   weights, is nothing where a key is visible, lifts the lowest number, and makes NaN of -inf:
 *
 *     mask + ReduceMax<axis=-1>(mask) * -2^-23
 */
import { attr, Tensor, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { producerOf } from "../../rewrite/match.js";
import { areSame, type Size } from "../fold/size.js";
import type { Heads, SizesOf } from "./heads.js";
import { FAR_BELOW, fillOf, HIGH, isHighEnough, isHighOrInfinite, LOW, showsKeys, TOO_LOW } from "./mask-levels.js";
import type { AttentionParts, Mask } from "./pattern.js";

/** What a kernel makes of rows without a key: what Softmax does, or zeros. */
export type KeylessRows = "as written" | "zeros";

/** The mask, null when there is none; a reason when it cannot be told that a kernel does the same with it. */
export function maskOf(
  parts: AttentionParts,
  keyless: KeylessRows,
  sizesOf: SizesOf,
  context: RewriteContext,
): Value | string | null {
  const { masks, isGuarded } = parts;
  if (masks.length === 0) return null;
  const shapes = masks.map((mask) => (mask.kind === "added" ? mask.value : mask.condition));
  const wrong = shapes.map((value) => misfitOf(sizesOf(value), parts)).find((reason) => reason !== null);
  if (wrong) return wrong;
  if (masks.some((mask) => mask.kind === "added" && mask.value.dtype !== "f32")) return "the mask is not of f32";
  const fills = masks.map((_, index) => fillOf(index, masks));
  if (masks.some((mask, i) => mask.kind === "chosen" && fills[i] === null)) {
    return "rows that hide every key could come out differently: another mask may be as low as what Where fills in";
  }
  const lifted = liftedMasks(masks, fills, context);
  // Before they are lifted numbers may be too low, or the sum of two of them -inf.
  const isCareful = lifted.some((mask, i) => !isHigh(mask, fills[i]!)) && !showsAll(lifted, fills);
  const sum = lifted.reduce<Value | null>((kept, mask, i) => combined(kept, mask, fills[i]!, context), null)!;
  if (!isCareful || (keyless === "as written" && !isGuarded)) return stretched(sum, parts, sizesOf, context);
  if (keyless === "as written") return "weights that are NaN become 0, which the kernel does not do";
  if (!isGuarded) return stretched(moved(sum, sizesOf, context), parts, sizesOf, context);
  const isInfiniteAtMost = lifted.every((mask, i) => isHighOrInfinite(mask, fills[i]!, TOO_LOW));
  return stretched(isInfiniteAtMost ? sum : shrunk(sum, context), parts, sizesOf, context);
}

const isHigh = (mask: Mask, fill: number): boolean =>
  mask.kind === "chosen" ? fill >= TOO_LOW : isHighEnough(mask.value, TOO_LOW);

/** Whether every row keeps a key: one mask does, and no other hides as -inf does. */
function showsAll(masks: readonly Mask[], fills: readonly (number | null)[]): boolean {
  const low = masks.filter((mask, i) => !isHigh(mask, fills[i]!));
  return low.length === 1 && showsKeys(low[0]!);
}

/** The masks with their low constants lifted, where there is only one that has any: two could be as low, or lower. */
function liftedMasks(masks: readonly Mask[], fills: readonly (number | null)[], context: RewriteContext): Mask[] {
  const isLow = (mask: Mask, index: number): boolean => !isHighOrInfinite(mask, fills[index]!, HIGH);
  const isAlone = masks.filter(isLow).length === 1;
  return masks.map((mask, i) => {
    const value = isAlone && mask.kind === "added" && isLow(mask, i) ? lifted(mask.value, context) : null;
    return value ? { kind: "added", value } : mask;
  });
}

/** Why a mask may not be one of [B, H, S, T] with sizes of 1. */
function misfitOf(sizes: readonly Size[] | null, { q, k }: AttentionParts): string | null {
  if (!sizes) return "the rank of the mask is not known";
  if (sizes.length > 4) return "the mask widens the scores";
  const wanted = [q.batch, q.heads, q.length, k.length].slice(4 - sizes.length);
  const fits = (size: Size, axis: number): boolean =>
    size === 1 ||
    areSame(size, wanted[axis]) ||
    // The last two are expanded where they are not the same for sure, but not made smaller.
    (axis >= sizes.length - 2 && typeof size !== "number" && wanted[axis] !== 1);
  return sizes.every(fits) ? null : "the mask may widen the scores";
}

type Makes = Pick<RewriteContext, "create" | "constant">;

/** A mask of constants that are 0 or hide, without those that are too low; -inf stays, and lower than all. */
function lifted(value: Value, makes: Makes): Value | null {
  if (value.constant) {
    const { dims, dtype } = value.constant;
    const numbers = dtype === "f32" ? value.constant.f32() : null;
    const isApart = numbers?.every((x) => x < FAR_BELOW || x >= HIGH) ?? false;
    return isApart ? makes.constant(value.label, Tensor.f32(dims, numbers!.map(lift))) : null;
  }
  const where = producerOf(value, "Where", value.graph);
  const [condition, yes, no] = where?.inputs ?? [];
  if (!condition || !yes?.constant || !no?.constant) return null;
  const [one, other] = [lifted(yes, makes), lifted(no, makes)];
  if (!one || !other) return null;
  return makes.create("Where", [condition, one, other], {}, { labels: [value.label] }).output;
}

const lift = (number: number): number => (number < FAR_BELOW && number !== Number.NEGATIVE_INFINITY ? LOW : number);

function combined(kept: Value | null, mask: Mask, fill: number | null, { create, constant }: Makes): Value {
  if (mask.kind === "added") return kept ? create("Add", [kept, mask.value]).output : mask.value;
  const shown = kept ?? constant("shown", Tensor.scalar("f32", 0));
  const hidden = constant("hidden", Tensor.scalar("f32", fill!));
  return create("Where", [mask.condition, ...(mask.keepsWhen ? [shown, hidden] : [hidden, shown])]).output;
}

const STEP = 2 ** -23;

function moved(mask: Value, sizesOf: SizesOf, context: RewriteContext): Value {
  const { create, constant } = context;
  const greatest = sizesOf(mask)?.length === 0 ? mask : greatestOfRows(mask, context);
  const step = create("Mul", [greatest, constant("step", Tensor.scalar("f32", -STEP))]);
  return create("Add", [mask, step.output]).output;
}

function greatestOfRows(mask: Value, { create, constant }: Makes): Value {
  const shape = mask.shape && [...mask.shape.slice(0, -1), 1];
  const axes = constant("keys.axis", Tensor.i64([1], [-1]));
  return create("ReduceMax", [mask, axes], {}, { types: [{ dtype: "f32", shape }] }).output;
}

/** The mask without the lowest number; -inf stays. */
const shrunk = (mask: Value, { create, constant }: Makes): Value =>
  create("Mul", [mask, constant("shrunk", Tensor.scalar("f32", 1 - STEP))]).output;

/** The mask with the sizes of the scores along its last two axes. */
function stretched(mask: Value, { q, k }: AttentionParts, sizesOf: SizesOf, context: RewriteContext): Value {
  const sizes = sizesOf(mask) ?? [];
  if (sizes.length >= 2 && areSame(sizes.at(-2), q.length) && areSame(sizes.at(-1), k.length)) return mask;
  const { create, constant } = context;
  // Expand leaves an axis alone where it is told 1.
  const wanted = [q, k].map((x, i) => (areSame(sizes.at(i - 2), x.length) ? 1 : extentOf(x, sizesOf, context)));
  const numbers = wanted.map((extent) => (typeof extent === "number" ? extent : null));
  const vector = (size: Value | number): Value =>
    typeof size === "number" ? constant("size", Tensor.i64([1], [size])) : size;
  const shape = numbers.every((size) => size !== null)
    ? constant("scores.shape", Tensor.i64([2], numbers))
    : create("Concat", wanted.map(vector), { axis: attr.int(0) }, { types: [{ dtype: "i64", shape: [2] }] }).output;
  const lengths = [q, k].map(({ length }) => (typeof length === "number" ? length : null));
  const known = mask.shape && [...mask.shape.slice(0, -2), ...lengths];
  return create("Expand", [mask, shape], {}, { types: [{ dtype: "f32", shape: known }] }).output;
}

/** The length of query or key: a number, or a vector of one that is computed where the length comes from. */
function extentOf(x: Heads, sizesOf: SizesOf, context: RewriteContext): Value | number {
  if (typeof x.length === "number") return x.length;
  const own = x.headsFirst ?? x.tokensFirst ?? x.slot!.source;
  return lengthOf(own, own === x.headsFirst ? 2 : 1, sizesOf, context);
}

function lengthOf(own: Value, axis: number, sizesOf: SizesOf, context: RewriteContext): Value | number {
  const { create, constant, model } = context;
  const length = sizesOf(own)?.[axis];
  if (typeof length === "number") return length;
  // An input of the model where it has the same size: then all layers share the question.
  const inputs = model.graph.inputs.flatMap((value) => (sizesOf(value) ?? []).map((size, at) => ({ value, at, size })));
  const input = own.graph === model.graph ? inputs.find(({ size }) => areSame(size, length)) : undefined;
  const concat = input ? null : producerOf(own, "Concat", own.graph);
  const rank = sizesOf(own)?.length ?? 0;
  if (concat?.inputs.length === 2 && [axis, axis - rank].includes(concat.int("axis", 0))) {
    // Not of what is put together: that is then free to be put together elsewhere.
    const parts = concat.inputs.map((part) => lengthOf(part!, axis, sizesOf, context));
    const [one, other] = parts.map((part) =>
      typeof part === "number" ? constant("size", Tensor.i64([1], [part])) : part,
    );
    return create("Add", [one!, other!], {}, { types: [{ dtype: "i64", shape: [1] }] }).output;
  }
  const [value, at] = input ? [input.value, input.at] : [own, axis];
  const attributes = { start: attr.int(at), end: attr.int(at + 1) };
  return create("Shape", [value], attributes, { types: [{ dtype: "i64", shape: [1] }] }).output;
}
