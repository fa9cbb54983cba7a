/**
 * Gather<axis=2>(Reshape(x: [T,B,96], [T,B,3,32]), i)  =>  Slice(x, 32*i : 32*(i+1)) of the last axis
 *
 * How exporters write queries, keys and values that one product makes; several of them side
 * by side become a Split. All who read the Reshape must be of that kind: then it goes.
 */
import { type Node, Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, normalizeAxes, producerOf } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { sizeFacts } from "../fold/size-facts.js";

export const fuseGatherPart = defineRewrite({
  name: "fuse-gather-part",
  summary: "Cut a part out of an axis instead of taking the axis apart and picking from it",
  numerics: "exact",
  roots: ["Gather"],
  minOpset: 10,
  rewrite(root, { create, constant, shared }) {
    const reshape = producerOf(root.inputs[0], "Reshape", root.graph);
    const x = reshape?.inputs[0];
    const { shapeOf } = shared(sizeFacts);
    const [from, to] = [shapeOf(x), shapeOf(reshape?.output)];
    if (!reshape || !x || !from || to?.length !== from.length + 1) return null;
    const axis = from.length - 1;
    const [count, width] = [to[axis]!, to[axis + 1]!];
    if (typeof count !== "number" || typeof width !== "number" || width < 1 || from[axis] !== count * width)
      return null;
    if (!from.slice(0, axis).every((size, i) => areSame(size, to[i]))) return null;
    const places = reshape.output.uses.map((use) =>
      use.kind === "input" && use.index === 0 ? placeOf(use.node, axis, count) : null,
    );
    const place = placeOf(root, axis, count);
    if (place === null || places.includes(null)) return null;
    const bound = (label: string, value: number) => constant(label, Tensor.i64([1], [value]));
    return create(
      "Slice",
      [x, bound("starts", place * width), bound("ends", (place + 1) * width), bound("axes", axis)],
      {},
      { types: [root.output.type] },
    );
  },
});

/** Which one of `count` a Gather picks from `axis`; null for any other node. */
function placeOf(gather: Node, axis: number, count: number): number | null {
  const indices = gather.is("Gather") ? gather.inputs[1]?.constant : null;
  if (indices?.dims.length !== 0) return null;
  if (normalizeAxes([gather.int("axis", 0)], axis + 2)?.[0] !== axis) return null;
  const [place] = constantIntegers(gather.inputs[1]) ?? [];
  if (place === undefined || place < -count || place >= count) return null;
  return place < 0 ? place + count : place;
}
