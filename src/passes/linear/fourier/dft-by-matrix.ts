/** A DFT as one product. */
import type { Dim, Value } from "../../../ir/index.js";
import type { RewriteContext } from "../../../rewrite/index.js";
import { symbolOf } from "../../fold/size.js";
import { sizeFacts } from "../../fold/size-facts.js";
import { isNeverEmpty } from "../../layout/never-empty.js";
import { type Label, LabelledNodes, single } from "../labelled.js";
import { matrixAxes, sizeOf, type Transform, transformMatrix } from "./transform.js";

/** One transform along one axis of a tensor whose last axis has the parts. */
export interface AxisTransform {
  readonly x: Value;
  /** From the front. */
  readonly along: number;
  readonly transform: Transform;
  /** Of the result. */
  readonly scale: number;
}

/** Whether what lies in front of an axis has elements: of no matrices the runtime multiplies none by one that stands on the left. */
function areNeverEmpty(x: Value, along: number, context: RewriteContext): boolean {
  const sizes = context.shared(sizeFacts).shapeOf(x);
  return x.shape!.slice(0, along).every((dim, axis) => {
    const size = sizes?.[axis] ?? 0;
    return isNeverEmpty(dim ?? (typeof size === "number" ? size : symbolOf(size)), axis, context);
  });
}

/**
 * The matrix stands on the right where the axis is the last in front of the parts, and else on the left. Parts of a signal lie beside
 * each other there, and those of a spectrum in planes. null where a size would have to be computed that is not known.
 */
export function dftByMatrix({ x, along, transform, scale }: AxisTransform, context: RewriteContext): Value | null {
  const { from, to, inverse } = transform;
  const names = x.shape!.map((_, axis): Label => String(axis));
  const [front, behind] = [names.slice(0, along), names.slice(along + 1, -1)];
  const known = new Map<Label, Dim>([
    ...names.map((name, axis): [Label, Dim] => [name, x.shape![axis]!]),
    ...Object.entries({ part: to.parts, place: to.places, givenPlace: from.places, givenPart: from.parts }),
  ]);
  const nodes = new LabelledNodes(context, { known, unsure: new Set() });
  const isPlanes = inverse && from.parts === 2;
  const given = isPlanes ? ["givenPart", "givenPlace"] : ["givenPlace", "givenPart"];
  const made = inverse ? ["place", "part"] : ["part", "place"];
  const isLeft = behind.length > 0;
  if (isLeft && !areNeverEmpty(x, along, context)) return null;
  const outer = isLeft ? [behind] : [];
  const tensor = { value: x, labels: [...front, "givenPlace", ...behind, "givenPart"] };
  const signal = nodes.arranged(tensor, [...front, ...given, ...behind], [...single(front), given, ...outer]);
  if (!signal) return null;
  const order = isLeft ? [...made, ...given] : [...given, ...made];
  const weights = transformMatrix(transform).map((weight) => scale * weight);
  const dims = isLeft ? [sizeOf(to), sizeOf(from)] : [sizeOf(from), sizeOf(to)];
  const matrix = context.constant(`${x.label}/circle`, nodes.weights(weights, matrixAxes, order).withDims(dims));
  const groups = [...single(front), made, ...outer];
  const product = isLeft ? nodes.matMul(matrix, signal, groups) : nodes.matMul(signal, matrix, groups);
  const labels = [...front, ...made, ...behind];
  const spectrum = nodes.regroup(product, groups, single(labels));
  return spectrum && nodes.transpose({ value: spectrum, labels }, [...front, "place", ...behind, "part"]).value;
}
