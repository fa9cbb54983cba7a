/**
 *   Relu(Squeeze(x, 2))                  =>  Squeeze(Relu(x), 2)
 *   Add(Squeeze(x, 2), Squeeze(y, 2))    =>  Squeeze(Add(x, y), 2)
 *   Unsqueeze(Squeeze(x, 2), 2)          =>  x
 *
 * x: [N,C,1,L], until there is one Squeeze behind a whole net along a line. Where a Squeeze has other readers, only if an Unsqueeze
 * that undoes it comes later.
 */
import { type Attribute, attr, type Node, type Value } from "../../ir/index.js";
import { familyOf, isPointwise } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { isUnsqueezedRow, planeOf, planeType, ROW_AXIS, withoutRow, withRow } from "./one-row.js";

export const sinkSqueeze = defineRewrite({
  name: "sink-squeeze",
  summary: "Compute in a plane of one row what is computed along the line that it holds",
  numerics: "exact",
  roots: ["*"],
  onlyOnCpu: "its kernels for channels side by side are those of planes",
  rewrite(root, maker) {
    if (isUnsqueezedRow(root)) return planeOf(root.inputs[0]);
    const form = formOf(root);
    if (!form || !isWanted(root, form)) return null;
    const operands = root.inputs.map((input, i) => (i < form.operands ? inPlane(input!, maker) : input));
    if (operands.slice(0, form.operands).includes(null)) return null;
    const types = root.outputs.map((output) => planeType(output!.dtype, output!.shape));
    // A plane goes by the name of its line: in the end there is one of the two, most often.
    const labels = root.outputs.map((output) => output!.label);
    const result = maker.create(root.op, operands, form.attributes, { like: root, types, labels });
    return result.outputs.map((plane, i) => withoutRow(plane!, root.outputs[i]!, maker));
  },
});

interface Form {
  /** So many inputs from the first on are along the line; the others are not. */
  readonly operands: number;
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** Null for what is not the same in a plane of one row. */
function formOf(node: Node): Form | null {
  if (node.domain !== "" || node.inputs.length === 0 || node.outputs.some((output) => output === null)) return null;
  const { attributes } = node;
  if (isPointwise(node) || (node.op === "BatchNormalization" && isPerChannel(node))) return { operands: 1, attributes };
  if (familyOf(node) === "broadcasting") {
    // Older opsets say there what is broadcast where.
    const isOld = attributes.has("axis") || attributes.has("broadcast");
    return isOld || node.inputs.includes(null) ? null : { operands: node.inputs.length, attributes };
  }
  if (node.op !== "Concat" && node.op !== "Split") return null;
  const axis = planeAxis(node.int("axis", node.op === "Concat" ? 1 : 0));
  return axis === null
    ? null
    : {
        operands: node.op === "Concat" ? node.inputs.length : 1,
        attributes: new Map([...attributes, ["axis", attr.int(axis)]]),
      };
}

/** Older ones may have numbers for each place, or make statistics. */
const isPerChannel = (norm: Node): boolean =>
  norm.outputs.length === 1 && norm.int("spatial", 1) === 1 && norm.int("training_mode", 0) === 0;

/** Where an axis of [N,C,L] is in [N,C,1,L]; null when it is neither. */
function planeAxis(axis: number): number | null {
  if (axis < -3 || axis > 2) return null;
  const fromFront = axis < 0 ? axis + 3 : axis;
  return fromFront < ROW_AXIS ? fromFront : fromFront + 1;
}

/** Whether the plane of each operand is there, and a Squeeze goes by it, now or later. */
function isWanted(node: Node, { operands }: Form): boolean {
  const lines = new Set(node.inputs.slice(0, operands).filter((input) => planeOf(input)));
  if (lines.size === 0) return false;
  const isSole = [...lines].every((line) => line!.uses.every((use) => use.kind === "input" && use.node === node));
  return isSole || node.outputs.some((output) => leadsToPlane(output!));
}

const MOST_STEPS = 64;

/** Whether an Unsqueeze comes behind nothing but what is the same in a plane. */
function leadsToPlane(start: Value): boolean {
  const seen = new Set<Value>([start]);
  for (const value of seen) {
    for (const use of value.uses) {
      if (use.kind !== "input" || use.node.graph !== start.graph) continue;
      if (isUnsqueezedRow(use.node)) return true;
      const form = formOf(use.node);
      if (form && use.index < form.operands && seen.size < MOST_STEPS)
        for (const output of use.node.outputs) seen.add(output!);
    }
  }
  return false;
}

/** Larger constants are not stored a second time for other readers. */
const COPIED_BYTES = 64 << 10;

/** What an operand is beside planes; null where it is a line that is made elsewhere, and read in no plane. */
function inPlane(operand: Value, maker: RewriteContext): Value | null {
  const plane = planeOf(operand);
  if (plane) return plane;
  const tensor = operand.constant;
  if (!tensor) return isUnsqueezedElsewhere(operand) ? withRow(operand, maker) : null;
  if (tensor.dims.length > 3 || (operand.useCount > 1 && tensor.byteLength > COPIED_BYTES)) return null;
  // Along the line, or one number.
  if (tensor.dims.length < 2) return operand;
  const dims = [...tensor.dims.slice(0, -1), 1, ...tensor.dims.slice(-1)];
  return maker.constant(`${operand.label}/plane`, tensor.withDims(dims));
}

/** A residual stream that begins as a line: its Unsqueezes are one in the end. */
const isUnsqueezedElsewhere = ({ uses, shape }: Value): boolean =>
  shape?.length === ROW_AXIS + 1 && uses.some((use) => use.kind === "input" && isUnsqueezedRow(use.node));
