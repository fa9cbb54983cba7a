/**
 * A tensor that is cut into a sequence only to take the parts out again is a Split:
 *
 *   s = SplitToSequence<axis=1>(x, 4);  a = SequenceAt(s, 0);  b = SequenceAt(s, 1)
 *     =>   a, b = Split<axis=1>(x, [4, 4])
 *
 * Parts without their axis (`keepdims=0`, how `unbind` is exported) are picked by Gather.
 */
import { attr, type Node, nodesWithin, opsetOf, Tensor, type Value } from "../../ir/index.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { constantIntegers, isKnown } from "../../rewrite/match.js";

export const eliminateSplitToSequence = defineGraphPass({
  name: "eliminate-split-to-sequence",
  summary: "Split a tensor into its parts without making a sequence of them",
  numerics: "exact",
  revealsTypes: "for the next round",
  run({ model, claim, skipped }) {
    if (opsetOf(model) < 13) return;
    for (const node of nodesWithin(model.graph)) {
      if (!node.is("SplitToSequence")) continue;
      const plan = planOf(node);
      if (typeof plan === "string") skipped(node.displayName, plan);
      else if (claim(node.displayName)) rewrite(node, plan);
    }
  },
});

interface Plan {
  readonly axis: number;
  readonly sizes: readonly number[];
  readonly dropsAxis: boolean;
  readonly readers: readonly { readonly node: Node; readonly index: number }[];
}

function planOf(node: Node): Plan | string {
  const [data, split] = node.inputs;
  const shape = data?.shape;
  const given = node.int("axis", 0);
  if (!shape) return "the rank of what is split is not known";
  const axis = given < 0 ? given + shape.length : given;
  const size = shape[axis];
  const sizes = sizesOf(split, isKnown(size) ? size : null);
  if (!sizes || sizes.length === 0) return "the sizes of the parts are not known";
  const readers = node.output.uses.map((use) => {
    if (use.kind !== "input" || !use.node.is("SequenceAt") || use.index !== 0) return null;
    const at = constantIntegers(use.node.inputs[1]);
    if (at?.length !== 1) return null;
    const index = at[0]! < 0 ? at[0]! + sizes.length : at[0]!;
    return index >= 0 && index < sizes.length ? { node: use.node, index } : null;
  });
  if (readers.some((reader) => reader === null))
    return "the sequence is read as a whole, or at a place that is computed";
  const dropsAxis = node.int("keepdims", 1) === 0;
  if (dropsAxis && split) return "runtimes do not agree on keepdims=0 where sizes are given";
  return { axis, sizes, dropsAxis, readers: readers as Plan["readers"] };
}

/** The sizes of the parts along an axis of `size` elements, which may be unknown where they are listed. */
function sizesOf(split: Value | null | undefined, size: number | null): number[] | null {
  if (!split) return size === null ? null : Array<number>(size).fill(1);
  const numbers = constantIntegers(split);
  if (!numbers || numbers.some((number) => number < 0)) return null;
  if (split.constant!.dims.length === 1) return numbers;
  const [part] = numbers;
  if (size === null || !part) return null;
  return Array.from({ length: Math.ceil(size / part) }, (_, i) => Math.min(part, size - i * part));
}

function rewrite(node: Node, { axis, sizes, dropsAxis, readers }: Plan): void {
  const { graph } = node;
  const data = node.inputs[0]!;
  if (dropsAxis) {
    for (const { node: reader, index } of readers) {
      const at = reader.graph.addConstant("index", Tensor.i64([], [index]));
      const spec = { op: "Gather", inputs: [data, at], attributes: { axis: attr.int(axis) } };
      replace(reader, reader.graph.addNode({ ...spec, ...like(reader) }, reader).output);
    }
  } else {
    const split = graph.addNode(
      {
        op: "Split",
        name: node.name,
        inputs: [data, graph.addConstant("split", Tensor.i64([sizes.length], sizes))],
        attributes: { axis: attr.int(axis) },
        outputs: sizes.map((_, i) => ({ label: `${node.output.label}/${i}` })),
        provenance: node.provenance,
      },
      node,
    );
    for (const { node: reader, index } of readers) replace(reader, split.outputs[index]!);
  }
  if (node.attached) removeWithFeeders(node);
}

const like = ({ name, output, provenance }: Node) => ({ name, provenance, outputs: [{ label: output.label }] });

function replace(reader: Node, part: Value): void {
  const { output } = reader;
  const isPort = output.isGraphOutput;
  const isFree = part.graph === reader.graph && !part.isGraphOutput;
  const standIn =
    isPort && !isFree ? reader.graph.addNode({ op: "Identity", inputs: [part], ...like(reader) }, reader).output : part;
  if (isPort) standIn.label = output.label;
  standIn.info ??= output.info;
  standIn.type ??= output.type;
  reader.graph.replaceUses(output, standIn);
  removeWithFeeders(reader);
}
