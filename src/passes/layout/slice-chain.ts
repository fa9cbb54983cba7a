/**
 * Slice(Slice(x, a), b)  =>  Slice(x, a and b)
 *
 * On different axes the bounds stand side by side; on one axis they are joined where its
 * size is known. A first Slice with several readers goes when all of them are Slices.
 */
import type { Node } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { normalizeAxes, producerOf } from "../../rewrite/match.js";
import { type Bounds, boundInputs, boundsOf, stretchOf } from "./slice-bounds.js";

export const fuseSlice = defineRewrite({
  name: "fuse-slice",
  summary: "Merge two Slices in a row",
  numerics: "exact",
  roots: ["Slice"],
  minOpset: 10,
  rewrite(outer, { create, constant }) {
    const inner = producerOf(outer.inputs[0], "Slice", outer.graph);
    const source = inner?.inputs[0];
    if (!inner || !source || !isReadBySlicesOnly(inner)) return null;
    const bounds = joined(inner, outer);
    return bounds && create("Slice", [source, ...boundInputs(bounds, constant)]);
  },
});

const isReadBySlicesOnly = ({ output, graph }: Node): boolean =>
  output.uses.every(
    (use) =>
      use.kind === "input" &&
      use.index === 0 &&
      use.node.graph === graph &&
      use.node.is("Slice") &&
      !!boundsOf(use.node),
  );

function joined(inner: Node, outer: Node): Bounds | null {
  const [first, second, shape] = [boundsOf(inner), boundsOf(outer), inner.inputs[0]!.shape];
  const innerAxes = first && shape && normalizeAxes(first.axes, shape.length);
  const outerAxes = second && shape && normalizeAxes(second.axes, shape.length);
  if (!innerAxes || !outerAxes) return null;
  const merged = { starts: [...first.starts], ends: [...first.ends], axes: innerAxes, steps: [...first.steps] };
  for (const [i, axis] of outerAxes.entries()) {
    const at = innerAxes.indexOf(axis);
    const [start, end, step] = [second.starts[i]!, second.ends[i]!, second.steps[i]!];
    if (at < 0) {
      merged.starts.push(start);
      merged.ends.push(end);
      merged.axes = [...merged.axes, axis];
      merged.steps.push(step);
      continue;
    }
    const size = shape![axis];
    if (typeof size !== "number") return null;
    const one = stretchOf(first.starts[at]!, first.ends[at]!, first.steps[at]!, size);
    const two = one && stretchOf(start, end, step, Math.ceil((one.end - one.start) / one.step));
    if (!two) return null;
    merged.starts[at] = BigInt(one.start + two.start * one.step);
    merged.ends[at] = BigInt(Math.min(one.end, one.start + two.end * one.step));
    merged.steps[at] = BigInt(one.step * two.step);
  }
  return merged;
}
