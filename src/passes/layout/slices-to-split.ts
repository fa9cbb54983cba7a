/**
 * Slices that cut a tensor into all of its parts along one axis become one Split:
 *
 *   Slice(x, 0:2), Slice(x, 2:4), Slice(x, 4:)  =>  Split(x, [2, 2, rest])
 */
import { attr, type Graph, graphsWithin, type Node, opsetOf, Tensor, type Value } from "../../ir/index.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { onlyStretch } from "./slice-bounds.js";

interface Part {
  readonly slice: Node;
  readonly axis: number;
  readonly size: number;
  readonly start: number;
  readonly end: number;
}

export const fuseSlicesToSplit = defineGraphPass({
  name: "fuse-slices-to-split",
  summary: "Cut a tensor into its parts by one Split instead of several Slices",
  numerics: "exact",
  run({ model, claim }) {
    // The sizes of the parts are an input since opset 13.
    if (opsetOf(model) < 13) return;
    for (const graph of graphsWithin(model.graph)) {
      for (const parts of partitionsOf(graph)) {
        if (claim(parts[0]!.slice.displayName)) splitInto(parts);
      }
    }
  },
});

/** Groups of Slices of one tensor that leave no gap and do not overlap, first part first. */
function partitionsOf(graph: Graph): Part[][] {
  const groups = new Map<Value, Map<number, Part[]>>();
  for (const slice of graph.nodes()) {
    const source = slice.is("Slice") ? slice.inputs[0] : null;
    const stretch = source && onlyStretch(slice);
    if (!source || stretch?.step !== 1 || stretch.end <= stretch.start) continue;
    const byAxis = groups.get(source) ?? new Map<number, Part[]>();
    byAxis.set(stretch.axis, [...(byAxis.get(stretch.axis) ?? []), { slice, ...stretch }]);
    groups.set(source, byAxis);
  }
  const candidates = [...groups.values()].flatMap((byAxis) => [...byAxis.values()]);
  return candidates
    .map((parts) => [...parts].sort((a, b) => a.start - b.start))
    .filter((parts) => parts.length > 1 && isPartition(parts));
}

const isPartition = (parts: readonly Part[]): boolean =>
  parts.every((part, i) => part.start === (parts[i - 1]?.end ?? 0)) && parts.at(-1)!.end === parts[0]!.size;

function splitInto(parts: readonly Part[]): void {
  const slices = new Set(parts.map(({ slice }) => slice));
  const { graph, inputs, name } = parts[0]!.slice;
  const source = inputs[0]!;
  const first = [...graph.nodes()].find((node) => slices.has(node))!;
  const sizes = parts.map(({ start, end }) => end - start);
  const split = graph.addNode(
    {
      op: "Split",
      name,
      inputs: [source, graph.addConstant(`${source.label}/sizes`, Tensor.i64([sizes.length], sizes))],
      attributes: { axis: attr.int(parts[0]!.axis) },
      outputs: parts.map(({ slice: { output } }) => ({ label: output.label, type: output.type })),
      provenance: parts.flatMap(({ slice }) => slice.provenance),
    },
    first,
  );
  for (const [i, { slice }] of parts.entries()) {
    split.outputs[i]!.info = slice.output.info;
    graph.replaceUses(slice.output, split.outputs[i]!);
    removeWithFeeders(slice);
  }
}
