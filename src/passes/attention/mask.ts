/**
 * The mask of an Attention out of what was added to the scores or chosen by Where.
 *
 * Two things that the runtime's kernel does not do: it does not stretch the last two axes
 * of a mask, so they are expanded where they may be 1; and a row of -3.4e38 (the lowest
 * number of f32), with which exporters hide every key of a padded row, comes out as zeros
 * instead of the mean of the values. Where a mask may hold numbers that low they become
 * -1e30, which hides as well: any score vanishes beside it.
 */
import { attr, Tensor, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { constantScalar, producerOf } from "../../rewrite/match.js";
import { areSame, type Size } from "../fold/size.js";
import type { Heads, SizesOf } from "./heads.js";
import type { AttentionParts, ChoosingMask } from "./pattern.js";

const LOW = -1e30;
/** Constants below this are replaced. */
const TOO_LOW = -1e37;

/** The mask, null when there is none; a reason when it cannot be told that its shape is one that kernels take. */
export function maskOf(parts: AttentionParts, sizesOf: SizesOf, context: RewriteContext): Value | string | null {
  const { addends, choices } = parts;
  if (addends.length === 0 && choices.length === 0) return null;
  const wrong = [...addends, ...choices.map(({ condition }) => condition)]
    .map((value) => misfitOf(sizesOf(value), parts))
    .find((reason) => reason !== null);
  if (wrong) return wrong;
  if (addends.some((value) => value.dtype !== "f32")) return "the mask is not of f32";
  const added = addends.length > 0 ? sumOf(addends, context) : null;
  const mask = choices.reduce<Value | null>((kept, choice) => chosen(choice, kept, context), added)!;
  return stretched(mask, parts, sizesOf, context);
}

/** Why a mask may not be one of [B, H, S, T] with sizes of 1. */
function misfitOf(sizes: readonly Size[] | null, { q, k }: AttentionParts): string | null {
  if (!sizes) return "the rank of the mask is not known";
  if (sizes.length > 4) return "the mask widens the scores";
  const wanted = [q.batch, q.heads, q.length, k.length].slice(4 - sizes.length);
  const fits = (size: Size, axis: number): boolean =>
    // The last two are expanded where they are not the same for sure.
    size === 1 || areSame(size, wanted[axis]) || (axis >= sizes.length - 2 && typeof size !== "number");
  return sizes.every(fits) ? null : "the mask may widen the scores";
}

function sumOf(addends: readonly Value[], { create, constant }: RewriteContext): Value {
  return addends
    .map((value) => lifted(value, { create, constant }))
    .reduce((one, other) => create("Add", [one, other]).output);
}

type Makes = Pick<RewriteContext, "create" | "constant">;

/** The mask without numbers that are too low. */
function lifted(value: Value, { create, constant }: Makes): Value {
  if (isHighEnough(value)) return value;
  if (value.constant) return constant(value.label, Tensor.f32(value.constant.dims, value.constant.f32().map(lift)));
  const where = producerOf(value, "Where", value.graph);
  const [condition, yes, no] = where?.inputs ?? [];
  if (condition && yes?.constant && no?.constant) {
    const branch = (of: Value): Value => lifted(of, { create, constant });
    return create("Where", [condition, branch(yes), branch(no)], {}, { labels: [value.label] }).output;
  }
  return create("Max", [value, constant(`${value.label}.lowest`, Tensor.scalar("f32", LOW))]).output;
}

const lift = (number: number): number => (number < TOO_LOW ? LOW : number);

/** Whether no element can be as low as the lowest number; a product by a modest number counts, its other side being 0 and 1. */
function isHighEnough(value: Value | null | undefined, depth = 0): boolean {
  if (!value || depth > 16) return false;
  if (value.constant) return value.constant.dtype === "f32" && value.constant.f32().every((x) => x >= TOO_LOW);
  const node = value.producer;
  if (node?.domain !== "" || value.dtype !== "f32") return false;
  const after = (input: number): boolean => isHighEnough(node.inputs[input], depth + 1);
  switch (node.op) {
    case "Where":
      return after(1) && after(2);
    case "Max":
      return node.inputs.some((_, i) => after(i));
    case "Mul":
      return node.inputs.some((input) => Math.abs(constantScalar(input) ?? Number.POSITIVE_INFINITY) <= 1e10);
    case "Expand":
    case "Reshape":
    case "Squeeze":
    case "Unsqueeze":
    case "Slice":
    case "Transpose":
      return after(0);
    case "Cast":
      return isInteger(node.inputs[0]);
    default:
      return false;
  }
}

const isInteger = (value: Value | null | undefined): boolean => !!value?.dtype && !/^(f|bf)/.test(value.dtype);

/** Where(condition, mask or 0, -1e30). */
function chosen(
  { condition, keepsWhen }: ChoosingMask,
  kept: Value | null,
  { create, constant }: RewriteContext,
): Value {
  const shown = kept ?? constant("shown", Tensor.scalar("f32", 0));
  const hidden = constant("hidden", Tensor.scalar("f32", LOW));
  return create("Where", keepsWhen ? [condition, shown, hidden] : [condition, hidden, shown]).output;
}

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
