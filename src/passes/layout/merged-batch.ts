/**
 * Batched products in which exporters make one axis of all that lead to the matrices:
 *
 *   Reshape(MatMul(Reshape(a, [B*H,T,D]), Reshape(b, [B*H,D,S])), [B,H,T,S])  =>  MatMul(a, b)
 *
 * with a: [B,H,T,D] and b: [B,H,D,S], and whatever stands between that knows nothing of the
 * leading axes: a Softmax of rows, a transposed matrix, element by element. MatMul takes any
 * number of leading axes by itself, and attention is told by its four axes.
 */
import { type Attribute, attr, type Node, soleReader, type TensorType, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { areSame, multiply, type Size } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";
import { permutationOf } from "./permutation.js";

const DEEPEST = 16;

export const eliminateMergedBatch = defineRewrite({
  name: "eliminate-merged-batch",
  summary: "Let MatMul work on the leading axes that are there instead of one made of all of them",
  numerics: "exact",
  roots: ["Reshape"],
  minOpset: 13,
  rewrite(root, context) {
    const facts = context.shared(sizeFacts);
    const merged = root.inputs[0];
    const [from, to] = [facts.shapeOf(merged), facts.shapeOf(root.output)];
    if (!merged || from?.length !== 3 || !to || to.length < 4) return null;
    const leading = to.slice(0, -2);
    if (!isMerged(from, to)) return null;
    const search: Search = { facts, leading, context, products: 0 };
    const plan = unmerged(merged, search, 0);
    return plan && search.products > 0 ? plan() : null;
  },
});

interface Search {
  readonly facts: SizeFacts;
  /** The sizes of the axes that are one in between. */
  readonly leading: readonly Size[];
  readonly context: RewriteContext;
  products: number;
}

/** Makes the value with its leading axes apart. */
type Plan = () => Value;

/** Whether [P,M,N] is [p,...,q,M,N] with the axes in front made one. */
function isMerged(merged: readonly Size[], apart: readonly Size[]): boolean {
  const product = apart.slice(0, -2).reduce<Size | null>((all, size) => all && multiply(all, size), 1);
  return areSame(product, merged[0]) && areSame(apart.at(-2), merged[1]) && areSame(apart.at(-1), merged[2]);
}

function unmerged(value: Value, search: Search, depth: number): Plan | null {
  const node = value.producer;
  if (!node || node.graph !== value.graph || depth > DEEPEST) return null;
  if (node.is("Reshape")) return source(node, search);
  if (soleReader(value) === null || search.facts.shapeOf(value)?.length !== 3) return null;
  const deeper = (input: Value | null | undefined): Plan | null => (input ? unmerged(input, search, depth + 1) : null);
  if (node.is("MatMul")) {
    const [a, b] = [deeper(node.inputs[0]), deeper(node.inputs[1])];
    search.products++;
    return a && b && (() => again(node, [a(), b()], search));
  }
  if (node.is("Transpose") && permutationOf(node)?.join() === "0,2,1") {
    const input = deeper(node.inputs[0]);
    const last = search.leading.length;
    const perm = [...search.leading.keys(), last + 1, last];
    return input && (() => again(node, [input()], search, { perm: attr.ints(perm) }));
  }
  const isRowwise = node.is("Softmax") && [-1, 2].includes(node.int("axis", -1));
  if (isRowwise || familyOf(node) === "unary" || node.is("Cast")) {
    const input = deeper(node.inputs[0]);
    return input && (() => again(node, [input()], search, isRowwise ? { axis: attr.int(-1) } : undefined));
  }
  return isArithmetic(node) ? ofOperands(node, search, deeper) : null;
}

const isArithmetic = (node: Node): boolean => ["Add", "Sub", "Mul", "Div"].some((op) => node.is(op));

/** Operands that have no leading axes stay as they are. */
function ofOperands(node: Node, search: Search, deeper: (input: Value) => Plan | null): Plan | null {
  const plans = node.inputs.map((input): Plan | null => {
    const rank = search.facts.shapeOf(input)?.length;
    if (!input || rank === undefined) return null;
    return rank < 3 ? () => input : deeper(input);
  });
  if (plans.includes(null)) return null;
  const inputs = (): Value[] => plans.map((plan) => plan!());
  return () => again(node, inputs(), search);
}

/** Where the axes were made one, from the same ones. */
function source(reshape: Node, { facts, leading }: Search): Plan | null {
  const x = reshape.inputs[0];
  const [from, to] = [facts.shapeOf(x), facts.shapeOf(reshape.output)];
  if (!x || !from || to?.length !== 3 || from.length !== leading.length + 2) return null;
  const isSame = isMerged(to, from) && leading.every((size, axis) => areSame(size, from[axis]));
  return isSame ? () => x : null;
}

function again(
  node: Node,
  inputs: readonly Value[],
  { context, leading }: Search,
  changed: Readonly<Record<string, Attribute>> = {},
): Value {
  const { dtype, shape } = node.output;
  const type: TensorType = {
    dtype,
    shape: shape && [...leading.map((size) => (typeof size === "number" ? size : null)), ...shape.slice(1)],
  };
  const attributes = new Map([...node.attributes, ...Object.entries(changed)]);
  return context.create(node.op, inputs, attributes, { like: node, labels: [node.output.label], types: [type] }).output;
}
