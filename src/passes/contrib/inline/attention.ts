/**
 *   com.microsoft::Attention<num_heads>(x, W, b, mask, , bias)   =>   attention written out
 *
 *     q, k, v = MatMul(x, W_q) + b_q, ...  in heads      scores = q k^T * scale + mask + bias      Softmax(scores) v, merged
 *
 * W is [hidden, q + k + v]. A mask is above 0 where a token counts, and adds mask_filter_value (-10000) elsewhere: [B, T] or [B, S, T]; or it says how
 * many of the first tokens count, [B].
 */
import { attr, dtypeCode, type Node, type Shape, Tensor, type Value } from "../../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { areSame } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import { RUNTIME_DOMAIN } from "../domain.js";

export const inlineRuntimeAttention = defineRewrite({
  name: "inline-runtime-attention",
  summary: "Write out ONNX Runtime's Attention, with a product each for query, key and value",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::Attention`],
  minOpset: 14,
  rewrite(root, context) {
    const [x, weight, bias, mask, past, added, pastLength] = root.inputs;
    if (!x || !weight || x.dtype !== "f32") return null;
    const { skip } = context;
    if (!bias) return skip("it has no bias");
    if (past || pastLength || (root.outputs[1]?.useCount ?? 0) > 0) return skip("it keeps keys and values of the past");
    if (root.int("do_rotary", 0) !== 0) return skip("it rotates by position");
    const { constant } = weight;
    if (constant?.dims.length !== 2 || !bias.constant) return skip("its weights are computed at run time");
    const heads = root.int("num_heads", 0);
    const widths = widthsOf(root, constant.dims[1]!);
    if (!widths || heads < 1 || widths.some((width) => width % heads !== 0)) return skip("its heads are not alike");
    const hidden = mask ? addedBy(mask, x, root, context) : null;
    if (mask && !hidden) return skip("its mask is neither of one number for each token nor of one for each row");
    const later = root.int("unidirectional", 0) !== 0 ? laterThanOwn(x, context) : null;
    return writtenOut(
      projected(x, weight, bias, widths, context),
      widths,
      { added: [hidden, added], later },
      root,
      context,
    );
  },
});

function widthsOf(root: Node, all: number): readonly [number, number, number] | null {
  const given = root.ints("qkv_hidden_sizes");
  const [q, k, v] = given && given.length > 0 ? given : [all / 3, all / 3, all / 3];
  const isWhole = given?.length === 3 || all % 3 === 0;
  return isWhole && q === k && q! + k! + v! === all ? [q!, k!, v!] : null;
}

/** Query, key and value, [B, S, width]. */
function projected(
  x: Value,
  weight: Value,
  bias: Value,
  widths: readonly number[],
  { create, constant }: RewriteContext,
): readonly Value[] {
  const [rows, columns] = weight.constant!.dims as [number, number];
  const [numbers, offsets] = [weight.constant!.f32(), bias.constant!.f32()];
  let from = 0;
  return widths.map((width, which) => {
    const part = new Float32Array(rows * width);
    for (let row = 0; row < rows; row++) {
      const start = row * columns + from;
      part.set(numbers.subarray(start, start + width), row * width);
    }
    const name = NAMES[which]!;
    const product = create("MatMul", [x, constant(`${weight.label}/${name}`, Tensor.f32([rows, width], part))]).output;
    const offset = constant(`${bias.label}/${name}`, Tensor.f32([width], offsets.slice(from, from + width)));
    from += width;
    return create("Add", [product, offset]).output;
  });
}

const NAMES = ["query", "key", "value"];

interface Masks {
  /** To the scores. */
  readonly added: readonly (Value | null | undefined)[];
  /** Where a token comes after the one that looks, [S, S]. */
  readonly later: Value | null;
}

const LOWEST = -3.4028234663852886e38;

function writtenOut(
  parts: readonly Value[],
  widths: readonly [number, number, number],
  { added, later }: Masks,
  root: Node,
  { create, constant }: RewriteContext,
): Answer {
  const heads = root.int("num_heads", 0);
  const shapeTo = (label: string, sizes: readonly number[]): Value =>
    constant(label, Tensor.i64([sizes.length], sizes));
  const transposed = (value: Value, perm: readonly number[]): Value =>
    create("Transpose", [value], { perm: attr.ints(perm) }).output;
  const [q, k, v] = parts.map((part, which) => {
    const split = create("Reshape", [part, shapeTo("heads", [0, 0, heads, widths[which]! / heads])]).output;
    return transposed(split, which === 1 ? [0, 2, 3, 1] : [0, 2, 1, 3]);
  }) as [Value, Value, Value];
  const scale = root.float("scale", 0) || 1 / Math.sqrt(widths[0] / heads);
  const product = create("MatMul", [q, k]).output;
  const scaled = create("Mul", [product, constant("scale", Tensor.scalar("f32", scale))]).output;
  const masked = added.reduce<Value>((sum, mask) => (mask ? create("Add", [sum, mask]).output : sum), scaled);
  // The kernel leaves nothing of what else hides them.
  const lowest = constant("lowest", Tensor.scalar("f32", LOWEST));
  const scores = later ? create("Where", [later, lowest, masked]).output : masked;
  const weights = create("Softmax", [scores], { axis: attr.int(-1) }).output;
  const merged = transposed(create("MatMul", [weights, v]).output, [0, 2, 1, 3]);
  return create("Reshape", [merged, shapeTo("merged", [0, 0, widths[2]])]);
}

/** What a mask adds to the scores, [B, 1, 1 or S, T]; null for a kind that is not known. */
function addedBy(mask: Value, x: Value, root: Node, context: RewriteContext): Value | null {
  const counts = countsIn(mask, x, context);
  const [kept, hidden] = [0, root.float("mask_filter_value", -10000)].map((number) =>
    context.constant("mask", Tensor.scalar("f32", number)),
  );
  return counts && context.create("Where", [counts, kept!, hidden!]).output;
}

/** Which tokens count. */
function countsIn(mask: Value, x: Value, context: RewriteContext): Value | null {
  const { create, constant } = context;
  const shape = mask.shape;
  if (!shape || mask.dtype !== "i32") return null;
  const [first, ...rest] = shape;
  // As many again may say where tokens begin.
  const sizesOf = context.shared(sizeFacts).shapeOf;
  if (shape.length === 1 && !areSame(sizesOf(mask)?.[0], sizesOf(x)?.[0])) return null;
  if (shape.length < 1 || shape.length > 3) return null;
  const axes = shape.length === 1 ? [1, 2, 3] : shape.length === 2 ? [1, 2] : [1];
  const sizes: Shape = [first!, ...axes.map(() => 1), ...rest];
  const known = { types: [{ dtype: "i32" as const, shape: sizes }] };
  const wide = create("Unsqueeze", [mask, constant("axes", Tensor.i64([axes.length], axes))], {}, known).output;
  if (shape.length > 1)
    return create("Greater", [wide, constant("nothing", Tensor.ofArray("i32", [], Int32Array.of(0)))]).output;
  const end = create("Cast", [wide], { to: attr.int(dtypeCode("i64")) }, { types: [{ dtype: "i64", shape: sizes }] });
  return create("Less", [positions(x, context), end.output]).output;
}

/** 0, 1, ... as many as there are tokens, i64 of [S]. */
function positions(x: Value, { create, constant }: RewriteContext): Value {
  const number = (label: string, value: number): Value => constant(label, Tensor.i64([], [value]));
  const known = { types: [{ dtype: "i64" as const, shape: [] }] };
  const length = create("Gather", [create("Shape", [x]).output, number("tokens", 1)], {}, known).output;
  const types = [{ dtype: "i64" as const, shape: [x.shape?.[1] ?? null] }];
  return create("Range", [number("start", 0), length, number("step", 1)], {}, { types }).output;
}

function laterThanOwn(x: Value, context: RewriteContext): Value {
  const { create, constant } = context;
  const columns = positions(x, context);
  const known = { types: [{ dtype: "i64" as const, shape: [x.shape?.[1] ?? null, 1] }] };
  const rows = create("Unsqueeze", [columns, constant("column", Tensor.i64([1], [1]))], {}, known).output;
  return create("Less", [rows, columns]).output;
}
