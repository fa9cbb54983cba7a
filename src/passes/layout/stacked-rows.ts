/**
 * Concat(Unsqueeze(f(x[0])), Unsqueeze(f(x[1])), ...)  =>  f(x)   for all or some rows of x
 *
 * What comes of a list of results of single steps that is stacked: rows as they are, or each through the same products and
 * activations first. Rows that are joined without an axis of their own, behind or below each other, are the same with a Reshape.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { familyOf, isPointwise } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { givenAxes, hasRank, hasSameAttributes, isKnown, normalizeAxes, producerOf } from "../../rewrite/match.js";
import { type PickedRows, pickedRowsOf } from "./picked-row.js";
import { exchangeRows, type RowMaker, takeRows } from "./take-rows.js";

export const fuseStackedRows = defineRewrite({
  name: "fuse-stacked-rows",
  summary: "Compute for all rows at once what is computed row by row and stacked",
  numerics: "rounding",
  roots: ["Concat"],
  // Bounds and axes are inputs.
  minOpset: 13,
  rewrite(root, context) {
    const stacked = stackedIn(root);
    const tree = stacked && treeOf(stacked.rows, root, DEEPEST);
    if (!tree || tree.kind === "constant") return null;
    // What others read besides would be computed twice.
    if (tree.kind === "node" && root.inputs.some((input) => input!.useCount > 1)) return null;
    const [first, ...others] = leavesIn(tree).map(({ axis }) => axis);
    const axis = others.every((other) => other === first) ? first! : stacked.axis;
    const maker: RowMaker = {
      constant: context.constant,
      create: (op, inputs, attributes, shape) =>
        context.create(op, inputs, attributes, { types: [{ dtype: inputs[0]!.dtype, shape }] }).output,
    };
    const value = build(tree, axis, context, maker);
    const turned = axis === stacked.axis ? value : exchangeRows(value, maker);
    if (stacked.hasAxis) return turned;
    const elements = stacked.rows[0]!.shape![1] as number;
    // Below each other: so many rows as there are. Behind each other: so many samples as before.
    const sizes = stacked.axis === 0 ? [-1, elements] : [0, stacked.rows.length * elements];
    const shape = context.constant("shape", Tensor.i64([2], sizes));
    return context.create("Reshape", [turned, shape], {}, { types: [root.output.type] });
  },
});

const DEEPEST = 12;

interface Stacked {
  /** [samples, elements] each. */
  readonly rows: readonly Value[];
  /** Of the result, along which they are, or of what it is a view of. */
  readonly axis: number;
  /** Whether they have an axis of their own in the result. */
  readonly hasAxis: boolean;
}

function stackedIn(root: Node): Stacked | null {
  if (root.inputs.length < 2) return null;
  const given = root.int("axis", 0);
  const rows = root.inputs.map((input) => {
    const unsqueeze = producerOf(input, "Unsqueeze", root.graph);
    const [axis, ...more] = (unsqueeze && normalizeAxes(givenAxes(unsqueeze) ?? [], 3)) ?? [];
    const isAlong = axis !== undefined && more.length === 0 && normalizeAxes([given], 3)?.[0] === axis && axis < 2;
    return isAlong ? { row: unsqueeze!.inputs[0]!, axis } : null;
  });
  if (rows.every((each) => each !== null))
    return { rows: rows.map(({ row }) => row), axis: rows[0]!.axis, hasAxis: true };
  const joined = root.inputs.flatMap((input) => (hasRank(input, 2) ? input! : []));
  const [axis] = normalizeAxes([given], 2) ?? [];
  const isWhole = joined.length === root.inputs.length && axis !== undefined && isKnown(joined[0]!.shape![1]);
  return isWhole ? { rows: joined, axis, hasAxis: false } : null;
}

/** What is computed for each row, alike: of the rows of a tensor, by nodes that do the same, and of what is the same for all. */
type Tree =
  | (PickedRows & { readonly kind: "rows" })
  | { readonly kind: "constant"; readonly value: Value }
  | { readonly kind: "node"; readonly node: Node; readonly inputs: readonly Tree[] };

const leavesIn = (tree: Tree): PickedRows[] =>
  tree.kind === "rows" ? [tree] : tree.kind === "node" ? tree.inputs.flatMap(leavesIn) : [];

/** One value for each row. */
function treeOf(values: readonly Value[], root: Node, left: number): Tree | null {
  const [first] = values;
  if (first!.constant) return values.every((value) => value === first) ? { kind: "constant", value: first! } : null;
  const picked = pickedRowsOf(values);
  if (picked && picked.axis < 2 && hasRank(picked.rows, 3)) return { kind: "rows", ...picked };
  const node = first!.producer;
  if (!node || left === 0 || !values.every((value) => isStepLike(value, node, root))) return null;
  const inputs = node.inputs.map((input, at) => {
    const each = values.flatMap(({ producer }) => producer!.inputs[at] ?? []);
    return input && each.length === values.length ? treeOf(each, root, left - 1) : null;
  });
  return inputs.every((input) => input !== null) && isOfEachRow(node, inputs) ? { kind: "node", node, inputs } : null;
}

/** Whether it is made as `node` makes what is of the first row, for the stack alone. */
const isStepLike = (value: Value, node: Node, { graph }: Node): boolean =>
  value.useCount === 1 &&
  value.graph === graph &&
  value.producer?.opName === node.opName &&
  value.producer.outputs[0] === value &&
  value.producer.outputs.length === 1 &&
  value.producer.inputs.length === node.inputs.length &&
  hasSameAttributes(value.producer, node);

/** Whether a node does with rows of two axes what it does with three, the samples and elements of which are the last. */
function isOfEachRow(node: Node, inputs: readonly Tree[]): boolean {
  const [first, ...others] = inputs;
  const isOfRows = first?.kind !== "constant";
  const areConstant = others.every(({ kind }) => kind === "constant");
  if (isPointwise(node) || node.is("Cast")) return isOfRows && areConstant;
  if (familyOf(node) === "broadcasting")
    return (
      !node.attributes.has("axis") && inputs.some(({ kind }) => kind !== "constant") && inputs.every(isAlongElements)
    );
  if (node.domain !== "" || !isOfRows) return false;
  if (node.op === "MatMul") return isMatrix(others[0]);
  if (node.op === "Gemm")
    return isPlain(node) && isMatrix(others[0]) && others.slice(1).every(isAlongElements) && areConstant;
  if (node.op === "Concat") return isLast(node, 0) && inputs.every(({ kind }) => kind !== "constant");
  return ofLastAxis.has(node.op) && isLast(node, -1) && areConstant && others.every(isAlongElements);
}

const ofLastAxis: ReadonlySet<string> = new Set(["LayerNormalization", "LogSoftmax", "Softmax"]);

const isLast = (node: Node, absent: number): boolean => normalizeAxes([node.int("axis", absent)], 2)?.[0] === 1;
const isMatrix = (tree: Tree | undefined): boolean => tree?.kind === "constant" && hasRank(tree.value, 2);
const isPlain = (gemm: Node): boolean =>
  gemm.float("alpha", 1) === 1 && gemm.float("beta", 1) === 1 && gemm.int("transA", 0) === 0;

/** Whether it is the same for all samples: with two axes it could be of each of them. */
const isAlongElements = (tree: Tree): boolean =>
  tree.kind !== "constant" ||
  (tree.value.shape?.length ?? 3) <= 1 ||
  (hasRank(tree.value, 2) && tree.value.shape![0] === 1);

/** [rows, samples, elements], or with the first two the other way around where `axis` is 1. */
function build(tree: Tree, axis: number, context: RewriteContext, maker: RowMaker): Value {
  if (tree.kind === "constant") return tree.value;
  if (tree.kind === "rows") {
    const taken = takeRows(tree, maker);
    return tree.axis === axis ? taken : exchangeRows(taken, maker);
  }
  const { node } = tree;
  const inputs = tree.inputs.map((input) => build(input, axis, context, maker));
  const create = (op: string, inputs: readonly Value[], attributes = node.attributes): Value =>
    context.create(op, inputs, attributes, { like: node }).output;
  if (node.op === "Concat") return create("Concat", inputs, new Map([["axis", attr.int(2)]]));
  if (ofLastAxis.has(node.op)) return create(node.op, inputs, new Map([...node.attributes, ["axis", attr.int(-1)]]));
  if (node.op !== "Gemm") return create(node.op, inputs);
  const [rows, weights, addend] = inputs as [Value, Value, Value?];
  const matrix =
    node.int("transB", 0) === 0 ? weights : create("Transpose", [weights], new Map([["perm", attr.ints([1, 0])]]));
  const product = create("MatMul", [rows, matrix], new Map());
  return addend ? create("Add", [product, addend], new Map()) : product;
}
