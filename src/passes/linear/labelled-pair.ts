/** Two tensors, multiplied and added up along the labels that nobody reads behind. */
import { isSameOrder } from "../layout/permutation.js";
import { type Groups, type Label, type Labelled, type LabelledNodes, single } from "./labelled.js";

/** Labels of a product of two matrices, or of stacks of them. */
interface Roles {
  readonly left: Labelled;
  readonly right: Labelled;
  /** Of both, and of the product. */
  readonly stacked: readonly Label[];
  /** Of the left and of the product; of the right and of the product. */
  readonly rows: readonly Label[];
  readonly columns: readonly Label[];
  /** Of both alone: what is added up. */
  readonly inner: readonly Label[];
}

/**
 * The product of both, with the labels of `later` that they have: in the order of `wanted`, or in that which comes out.
 * null where a Reshape would need sizes that are not known, or what is added up may not be as long in both.
 */
export function multiplyPair(
  a: Labelled,
  b: Labelled,
  wanted: readonly Label[] | null,
  later: ReadonlySet<Label>,
  nodes: LabelledNodes,
): Labelled | null {
  const unread = ({ labels }: Labelled, other: Labelled): Label[] =>
    labels.filter((label) => !later.has(label) && !other.labels.includes(label));
  const [x, y] = [nodes.sum(a, unread(a, b)), nodes.sum(b, unread(b, a))];
  const all = [...x.labels, ...y.labels.filter((label) => !x.labels.includes(label))];
  const inner = x.labels.filter((label) => !later.has(label));
  const order = wanted ?? all.filter((label) => later.has(label));
  // A size that turns out to be 1 on one side would be repeated.
  if (!inner.every((label) => nodes.isSure(label))) return null;
  // A sum of products, row by row: neither side has rows or columns of its own.
  if (inner.length > 0 && all.every((label) => both(x, y, label))) return summedProduct(x, y, order, inner, nodes);
  const [first, second] = [rolesOf(x, y, order, inner), rolesOf(y, x, order, inner)];
  const best = turns(second, order) < turns(first, order) ? second : first;
  if (inner.length > 0) return matrixProduct(best, order, nodes);
  // What a constant multiplies is no product that may become integers.
  const isOuter = best.rows.length > 0 && best.columns.length > 0 && !x.value.constant && !y.value.constant;
  return (isOuter && matrixProduct(best, order, nodes)) || elementwise(x, y, order, nodes);
}

const both = (a: Labelled, b: Labelled, label: Label): boolean => a.labels.includes(label) && b.labels.includes(label);

const within = (labels: readonly Label[], order: readonly Label[]): Label[] =>
  order.filter((label) => labels.includes(label));

function elementwise(a: Labelled, b: Labelled, order: readonly Label[], nodes: LabelledNodes): Labelled {
  const [x, y] = [a, b].map((factor) => nodes.transpose(factor, within(factor.labels, order)));
  return nodes.multiply(x!, y!, order);
}

function summedProduct(
  a: Labelled,
  b: Labelled,
  order: readonly Label[],
  inner: readonly Label[],
  nodes: LabelledNodes,
): Labelled {
  const product = nodes.multiply(a, nodes.transpose(b, a.labels), a.labels);
  return nodes.transpose(nodes.sum(product, inner), order);
}

function rolesOf(left: Labelled, right: Labelled, order: readonly Label[], shared: readonly Label[]): Roles {
  const own = (side: Labelled, other: Labelled): Label[] =>
    order.filter((label) => side.labels.includes(label) && !other.labels.includes(label));
  // In the order of a tensor that would have to be turned in every run.
  const inner = within(shared, (left.value.constant ? right : left).labels);
  const stacked = order.filter((label) => both(left, right, label));
  return { left, right, stacked, rows: own(left, right), columns: own(right, left), inner };
}

const leftOrder = ({ stacked, rows, inner }: Roles): Label[] => [...stacked, ...rows, ...inner];
const rightOrder = ({ stacked, columns, inner }: Roles): Label[] => [...stacked, ...inner, ...columns];
const productOrder = ({ stacked, rows, columns }: Roles): Label[] => [...stacked, ...rows, ...columns];

/** Transposes in every run. */
function turns(roles: Roles, order: readonly Label[]): number {
  const isTurned = ({ value, labels }: Labelled, to: readonly Label[]): boolean =>
    !value.constant && !isSameOrder(labels, to);
  const sides = [isTurned(roles.left, leftOrder(roles)), isTurned(roles.right, rightOrder(roles))];
  return [...sides, !isSameOrder(productOrder(roles), order)].filter(Boolean).length;
}

function matrixProduct(roles: Roles, order: readonly Label[], nodes: LabelledNodes): Labelled | null {
  const { left, right, stacked, rows, columns, inner } = roles;
  // Rows may lie along several axes where matrices are not stacked. A vector is a matrix: of vectors the runtime's kernels are slow,
  // and its fusion of Transposes (1.32) computes something else.
  const rowGroups: Groups = stacked.length === 0 && rows.length > 0 ? single(rows) : [rows];
  const stack = single(stacked);
  const a = nodes.arranged(left, leftOrder(roles), [...stack, ...rowGroups, inner]);
  const b = nodes.arranged(right, rightOrder(roles), [...stack, inner, columns]);
  if (!a || !b) return null;
  const groups = [...stack, ...rowGroups, columns];
  const labels = productOrder(roles);
  const product = nodes.regroup(nodes.matMul(a, b, groups), groups, single(labels));
  return product && nodes.transpose({ value: product, labels }, order);
}
