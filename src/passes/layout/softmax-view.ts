/**
 * A softmax of another view of a tensor that is viewed back: it works on the tensor itself.
 *
 *   Transpose<back>(Softmax<axis>(Transpose<there>(x)))          =>  Softmax<there[axis]>(x)
 *   Reshape(Softmax<axis>(Reshape(x: [..., n]): [.., n]), [..., n])  =>  Softmax<the same elements>(x)
 *
 * LogSoftmax likewise. Each row is the same numbers in the same order. ONNX Runtime itself exchanges
 * the axis with the last one and back: that costs what the Transposes did, but several times as much
 * where more axes stand behind the axis than one, so a view that merges those stays.
 */
import { attr, elementCount, fromFront, type Node, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { soleProducer } from "../../rewrite/match.js";
import { areSame, type Size } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { PartialShape, SizeFacts } from "../fold/size-rules.js";
import { compose, isIdentity, permutationOf } from "./permutation.js";

/** What looks at the same elements in the same order. */
const VIEWS = ["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

export const fuseSoftmaxView = defineRewrite({
  name: "fuse-softmax-view",
  summary: "Let Softmax work on a tensor itself instead of on another view of it",
  numerics: "rounding",
  roots: ["Transpose", ...VIEWS],
  // Softmax went over several axes before.
  minOpset: 13,
  rewrite(root, { create, skip, shared }) {
    const softmax = soleProducer(root.inputs[0], "Softmax") ?? soleProducer(root.inputs[0], "LogSoftmax");
    const view = softmax?.inputs[0];
    const there = view?.producer;
    if (!softmax || !view?.shape || !there || there.graph !== root.graph || there.domain !== "") return null;
    const axis = fromFront(softmax.int("axis", -1), view.shape.length);
    const x = there.inputs[0];
    if (!x) return null;
    const isTransposed = root.op === "Transpose";
    const source = isTransposed
      ? transposedAxis(there, root, axis)
      : viewedAxis(there, root, view, axis, shared(sizeFacts));
    if (source === null) return null;
    const behind = x.shape ? x.shape.length - 1 - source : 0;
    if (!isTransposed && behind > Math.max(1, view.shape.length - 1 - axis)) {
      return skip("with the axes behind it merged, the softmax is faster");
    }
    return create(softmax.op, [x], { axis: attr.int(source) });
  },
});

function transposedAxis(there: Node, back: Node, axis: number): number | null {
  if (!there.is("Transpose")) return null;
  const [first, second] = [permutationOf(there), permutationOf(back)];
  return first && second && first.length === second.length && isIdentity(compose(first, second)) ? first[axis]! : null;
}

function viewedAxis(there: Node, back: Node, view: Value, axis: number, { shapeOf }: SizeFacts): number | null {
  if (!VIEWS.includes(there.op)) return null;
  const [before, within, after] = [there.inputs[0], view, back.output].map((value) => shapeOf(value));
  if (!before || !within || !after || !isViewedBack(before, after)) return null;
  return axisOfSameElements(within, axis, before);
}

const isKnown = (size: Size | null): size is number => typeof size === "number";

/** Whether two views of as many elements surely have the same shape: one size may follow from the others. */
function isViewedBack(one: PartialShape, other: PartialShape): boolean {
  if (one.length !== other.length) return false;
  const open = one.flatMap((size, i) => (areSame(size, other[i]) ? [] : [i]));
  return (
    open.length === 0 || (open.length === 1 && one.every((size, i) => i === open[0] || (isKnown(size) && size > 0)))
  );
}

/**
 * The axis of `to` along which the same elements lie as along `axis` of `from`, which has as many
 * elements; null when unsure. Of an empty tensor there is nothing that could be wrong.
 */
function axisOfSameElements(from: PartialShape, axis: number, to: PartialShape): number | null {
  // What is the same on one side of the axis, and along it, is the same on the other side.
  if (from.slice(0, axis + 1).every((size, i) => areSame(size, to[i]))) return axis;
  const found = to.length - (from.length - axis);
  if (found >= 0 && from.slice(axis).every((size, i) => areSame(size, to[found + i]))) return found;
  if (!from.every(isKnown) || !to.every(isKnown)) return null;
  const [before, after] = [elementCount(from.slice(0, axis)), elementCount(from.slice(axis + 1))];
  const place = to.findIndex(
    (size, i) =>
      size === from[axis] && elementCount(to.slice(0, i)) === before && elementCount(to.slice(i + 1)) === after,
  );
  return place < 0 ? null : place;
}
