/**
 * Reshape(Tile(Unsqueeze(x, 3), [1, 1, 1, 2, 1]), [N, H * 2, W, C])   every row of x twice
 *
 * and the same of columns before or after it, in two steps or in one, with a Transpose in them or none
 *
 *   =>  Transpose(Resize<nearest>(Transpose(x, to [N, C, H, W]), [1, 1, 2, 2]), as it was)
 *
 * That is how Keras 3 enlarges maps (UpSampling2D), and how others do by `expand`. Copies of so short rows take ONNX Runtime's CPU
 * 0.4 ns an element in each of the two steps, with the Transpose in between 1.2 in all, and Resize 0.1 (1.32, Zen 3, 1 thread). The
 * Transposes meet those of the Convs around. Of one axis alone Resize takes 1 to 2 ns: there it stays as it is.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { constantIntegers, givenAxes, normalizeAxes, producerOf, soleProducer } from "../../rewrite/match.js";
import { areSame, multiply } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";
import type { SizeFacts } from "../fold/size-rules.js";
import { compose, inverseOf, isIdentity, type Permutation, permutationOf, permuted } from "./permutation.js";

/** A tensor of which each element stands `factors[axis]` times in a row along each axis, then transposed by `order`. */
interface Repeated {
  readonly source: Value;
  readonly factors: readonly number[];
  readonly order: Permutation;
}

export const fuseRepeat = defineRewrite({
  name: "fuse-repeat",
  summary: "Repeat rows and columns of maps by one Resize",
  numerics: "exact",
  roots: ["Reshape"],
  // There may be no region of interest from here on.
  minOpset: 13,
  rewrite(reshape, context) {
    const facts = context.shared(sizeFacts);
    const last = repeatedBy(reshape, facts);
    if (!last) return null;
    const before = soleProducer(last.source, "Reshape");
    const first = before && repeatedBy(before, facts);
    const whole = [...(first ? [inSequence(first, last)] : []), last].find(isOfPlanes);
    if (!whole) return null;
    const places = repeatedAxes(whole);
    const channels = [1, 2, 3].find((axis) => !places.includes(axis))!;
    const planes = [0, channels, ...places];
    const isMoved = !isIdentity(planes) && !producerOf(whole.source, "Transpose", reshape.graph);
    if (isMoved && !isTurnedByAll(reshape.output)) return context.skip("maps whose channels are not first");
    return resized(whole, planes, reshape, context);
  },
});

const repeatedAxes = ({ factors }: Repeated): number[] => factors.flatMap((factor, axis) => (factor > 1 ? [axis] : []));

const isOfPlanes = (repeated: Repeated): boolean => {
  const places = repeatedAxes(repeated);
  return repeated.source.dtype === "f32" && repeated.factors.length === 4 && places.length === 2 && !places.includes(0);
};

/** Otherwise Transposes come to it that nothing takes away. */
const isTurnedByAll = ({ uses }: Value): boolean =>
  uses.every((use) => use.kind === "input" && use.node.is("Transpose"));

function resized({ source, factors, order }: Repeated, planes: Permutation, root: Node, context: RewriteContext): Node {
  const { create, constant } = context;
  const { label, shape, dtype } = root.output;
  const back = compose(inverseOf(planes), order);
  const scales = Tensor.f32([4], permuted(factors, planes) as number[]);
  const type = { dtype, shape: shape && permuted(shape, inverseOf(back)) };
  const transposed = (x: Value, perm: Permutation): Value =>
    isIdentity(perm) ? x : create("Transpose", [x], { perm: attr.ints([...perm]) }).output;
  const larger = create(
    "Resize",
    [transposed(source, planes), null, constant(`${label}/scales`, scales)],
    {
      mode: attr.string("nearest"),
      coordinate_transformation_mode: attr.string("asymmetric"),
      nearest_mode: attr.string("floor"),
    },
    { types: [type] },
  );
  return isIdentity(back)
    ? larger
    : create("Transpose", [larger.output], { perm: attr.ints([...back]) }, { types: [root.output.type] });
}

/** What two do one after the other, told of the axes of what the first reads. */
const inSequence = (first: Repeated, second: Repeated): Repeated => ({
  source: first.source,
  factors: first.factors.map((factor, axis) => factor * second.factors[first.order.indexOf(axis)]!),
  order: compose(first.order, second.order),
});

/** Axes are put in behind others, filled with copies, perhaps moved, and each is made one with the axis in front of it. */
function repeatedBy(reshape: Node, facts: SizeFacts): Repeated | null {
  const turned = soleProducer(reshape.inputs[0], "Transpose");
  const copied = turned ? turned.inputs[0] : reshape.inputs[0];
  const copy = soleProducer(copied, "Tile") ?? soleProducer(copied, "Expand");
  const unsqueeze = copy && soleProducer(copy.inputs[0], "Unsqueeze");
  const source = unsqueeze?.inputs[0];
  const sizes = source && facts.shapeOf(source);
  const added = sizes && addedAxes(unsqueeze!, sizes.length);
  const perm = turned ? permutationOf(turned) : null;
  if (!sizes || !added || (turned && !perm)) return null;
  const rank = sizes.length + added.length;
  const counts = copiesOf(copy!, added, rank, facts);
  if (!counts || (perm && perm.length !== rank)) return null;
  const kept = Array.from({ length: rank }, (_, axis) => axis).filter((axis) => !added.includes(axis));
  // Of the axes that are copied, in the order in which they are merged; each one that was added goes with the one in front.
  const factors = sizes.map(() => 1);
  const order: number[] = [];
  for (const axis of perm ?? counts.keys()) {
    const own = order.at(-1);
    if (!added.includes(axis)) order.push(kept.indexOf(axis));
    else if (own === undefined) return null;
    else factors[own]! *= counts[axis]!;
  }
  const merged = order.map((axis) => multiply(sizes[axis]!, factors[axis]!));
  const result = facts.shapeOf(reshape.output);
  const isMerged = result?.length === merged.length && result.every((size, axis) => areSame(size, merged[axis]));
  return isMerged ? { source: source!, factors, order } : null;
}

function addedAxes(unsqueeze: Node, rank: number): readonly number[] | null {
  const axes = givenAxes(unsqueeze);
  return axes && normalizeAxes(axes, rank + axes.length);
}

/** How often each axis of what is copied is there; null when one that was there before is copied. */
function copiesOf(copy: Node, added: readonly number[], rank: number, facts: SizeFacts): readonly number[] | null {
  const given = copy.is("Tile") ? constantIntegers(copy.inputs[1]) : expandedBy(copy, added, facts);
  const isOwn = given?.length === rank && given.every((count, axis) => count === 1 || added.includes(axis));
  return isOwn && given.every((count) => count >= 1) ? given : null;
}

/** A size of what is expanded, where it has one already, is that size or 1. */
function expandedBy(expand: Node, added: readonly number[], facts: SizeFacts): readonly number[] | null {
  const from = facts.shapeOf(expand.inputs[0]);
  const to = facts.vectorOf(expand.inputs[1])?.elements;
  if (!from || from.length !== to?.length) return null;
  const counts = to.map((size, axis) => {
    if (added.includes(axis)) return typeof size === "number" ? size : null;
    return size === 1 || areSame(size, from[axis]) ? 1 : null;
  });
  return counts.every((count) => count !== null) ? counts : null;
}
