/** By how much a Resize stretches each axis. */
import { fromFront, type Node } from "../ir/index.js";

/**
 * As the node gives it: scales as they are, sizes over those of the input. One for each axis, 1 for those that it does not name,
 * NaN where sizes of the input are not known; null where none are given, or other sizes may come of them.
 */
export function resizeRatios(node: Node): readonly number[] | null {
  const [x, , scales, sizes] = node.inputs;
  const shape = x?.shape;
  if (!shape || node.string("keep_aspect_ratio_policy", "stretch") !== "stretch") return null;
  const own = scales?.constant?.elementCount ? scales.constant.toF32() : null;
  const given = own ?? sizes?.constant?.integers();
  const axes = node.ints("axes") ?? shape.map((_, axis) => axis);
  if (given?.length !== axes.length) return null;
  const ratios = shape.map(() => 1);
  for (const [i, axis] of axes.entries()) {
    const at = fromFront(axis, shape.length);
    const size = shape[at];
    ratios[at] = own ? own[i]! : typeof size === "number" ? given[i]! / size : Number.NaN;
  }
  return ratios;
}

/** The size that a scale comes to: the kernel of ONNX Runtime multiplies in single precision, what infers shapes in double. */
export const resizedTo = (size: number, scale: number): number => Math.floor(Math.fround(size * Math.fround(scale)));
