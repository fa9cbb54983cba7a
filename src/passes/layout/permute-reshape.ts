/**
 * Reshape in another order of axes. A Reshape takes axes apart and merges neighbours; what
 * becomes of one group of axes has nothing to do with the others:
 *
 *   Reshape([N, H, W, C] -> [N, H*W, C])  is, stored as [N, C, H, W],
 *   Reshape([N, C, H, W] -> [N, C, H*W])
 *
 * as long as the axes of a group are stored side by side in their order.
 */
import { attr, type Dim, type Node, type Shape, Tensor } from "../../ir/index.js";
import { constantIntegers, isSameDim } from "../../rewrite/match.js";
import type { Permutation } from "./permutation.js";
import type { PermutedForm } from "./permuted-form.js";

/** Neighbouring axes of the operand that become neighbouring axes of the result. */
interface Group {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** The form of a Reshape whose operand, or whose result, is stored in `order`. */
export function permutedReshape(node: Node, order: Permutation, isResult = false): PermutedForm | null {
  const [before, after] = [node.inputs[0]?.shape, node.output.shape];
  if (!before || !after || !constantIntegers(node.inputs[1]) || after.includes(0) || before.includes(0)) return null;
  if (order.length !== (isResult ? after : before).length) return null;
  const groups = groupsOf(before, after);
  const known = groups && storedGroups(groups, order, isResult ? "to" : "from");
  if (!known) return null;
  const [from, to] = [orderOf(known, "from"), orderOf(known, "to")];
  const target = storedTarget(before, after, from, to);
  if (!target) return null;
  return {
    inputs: [from, null],
    outputs: [to],
    constants: new Map([[1, () => Tensor.i64([target.length], target)]]),
    attributes: { allowzero: attr.int(0) },
  };
}

function groupsOf(before: Shape, after: Shape): Group[] | null {
  let [start, first] = [0, 0];
  let [end, last] = [before.length, after.length];
  const [front, back]: [Group[], Group[]] = [[], []];
  while (start < end && first < last && isSameDim(before[start], after[first])) {
    front.push({ from: [start++], to: [first++] });
  }
  while (start < end && first < last && isSameDim(before[end - 1], after[last - 1])) {
    back.unshift({ from: [--end], to: [--last] });
  }
  const middle: Group[] = [];
  while (start < end && first < last) {
    const group = nextGroup(before.slice(0, end), after.slice(0, last), start, first);
    middle.push(group);
    start += group.from.length;
    first += group.to.length;
  }
  const [left, made] = [range(start, end), range(first, last)];
  // What is left over has one element per axis, or belongs to the group before.
  if ([...left.map((axis) => before[axis]), ...made.map((axis) => after[axis])].some((dim) => dim !== 1)) return null;
  if (left.length > 0 || made.length > 0) middle.push({ from: left, to: made });
  return [...front, ...middle, ...back];
}

const range = (start: number, end: number): number[] => Array.from({ length: end - start }, (_, i) => start + i);

/** As few axes as have the same number of elements on both sides; all of them where a size is not known. */
function nextGroup(before: Shape, after: Shape, start: number, first: number): Group {
  let [end, last] = [start + 1, first + 1];
  let [size, other]: [Dim | undefined, Dim | undefined] = [before[start], after[first]];
  while (!isSameDim(size, other)) {
    if (typeof size !== "number" || typeof other !== "number") break;
    if (size < other && end < before.length) size = times(size, before[end++]);
    else if (other < size && last < after.length) other = times(other, after[last++]);
    else break;
  }
  return isSameDim(size, other)
    ? { from: range(start, end), to: range(first, last) }
    : { from: range(start, before.length), to: range(first, after.length) };
}

const times = (size: number, dim: Dim | undefined): Dim => (typeof dim === "number" ? size * dim : null);

/** The groups in the order in which one side stores them; null when the axes of one do not lie together. */
function storedGroups(groups: readonly Group[], order: Permutation, side: "from" | "to"): Group[] | null {
  const placed: { group: Group; place: number }[] = [];
  let previous = -1;
  for (const group of groups) {
    const places = group[side].map((axis) => order[axis]!);
    if (places.some((place, i) => i > 0 && place !== places[i - 1]! + 1)) return null;
    // One without axes on this side goes with the one before.
    const place = places[0] ?? previous + 0.5;
    placed.push({ group, place });
    previous = places.at(-1) ?? previous;
  }
  return placed.sort((a, b) => a.place - b.place).map(({ group }) => group);
}

/** The order in which the axes of one side are stored. */
function orderOf(groups: readonly Group[], side: "from" | "to"): Permutation {
  const stored = groups.flatMap((group) => group[side]);
  return stored.map((_, axis) => stored.indexOf(axis));
}

/** The shape to ask for: sizes that are not known are copied where they are, and one of them may be left open. */
function storedTarget(before: Shape, after: Shape, from: Permutation, to: Permutation): number[] | null {
  const target = to.map((_, place) => {
    const size = after[to.indexOf(place)]!;
    if (typeof size === "number") return size;
    const own = before[from.indexOf(place)];
    return isSameDim(own, size) ? 0 : -1;
  });
  return target.filter((size) => size === -1).length <= 1 ? target : null;
}
