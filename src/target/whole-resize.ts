/** A Resize that repeats each element a whole number of times: integers are copied for that, where a kernel looks each of them up. */
import type { Node } from "../ir/index.js";
import { resizeRatios } from "./resize-ratios.js";

/**
 * How often each place of a Resize is there along each spatial axis; null where it does anything else, or the ratio is not known.
 * With these roundings (ONNX, Resize) the nearest of an element `x` of the result is `floor(x / ratio)` for a whole ratio.
 */
export function repeatsOf(node: Node): readonly number[] | null {
  const shape = node.inputs[0]?.shape;
  if (!node.is("Resize") || (shape?.length !== 3 && shape?.length !== 4) || typeof shape[1] !== "number") return null;
  if (node.string("mode", "nearest") !== "nearest") return null;
  const ratios = resizeRatios(node);
  if (!ratios?.every((ratio) => Number.isInteger(ratio) && ratio >= 1)) return null;
  const [batch, channels, ...spatial] = ratios;
  if (batch !== 1 || channels !== 1 || spatial.every((ratio) => ratio === 1)) return null;
  return takesFloor(node, Math.max(...spatial)) ? spatial : null;
}

function takesFloor(node: Node, most: number): boolean {
  const rounding = node.string("nearest_mode", "round_prefer_floor");
  switch (node.string("coordinate_transformation_mode", "half_pixel")) {
    case "asymmetric":
      return rounding === "floor" || (rounding === "round_prefer_floor" && most <= 2);
    case "half_pixel":
    case "pytorch_half_pixel":
    case "half_pixel_symmetric":
      return rounding.startsWith("round_prefer");
    default:
      return false;
  }
}
