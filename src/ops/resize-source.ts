/** Where a Resize finds what it interpolates, by the formulas of the operator's definition. */
import type { Node } from "../ir/index.js";

/** One axis of a Resize: sizes of the input and of the result, and their ratio as the node gives it. */
export interface ResizedAxis {
  readonly from: number;
  readonly to: number;
  readonly scale: number;
}

/**
 * The place of the input, between two as a rule, that a place of the result comes from; null for modes that need more to tell. In
 * single precision, as ONNX Runtime has it: of a thousand places a few thousandths of one are lost by that.
 */
export function resizeSource(node: Node, place: number, { from, to, scale }: ResizedAxis): number | null {
  const single = Math.fround;
  const half = (): number => single(single(single(place + 0.5) / single(scale)) - 0.5);
  switch (node.string("coordinate_transformation_mode", "half_pixel")) {
    case "asymmetric":
      return single(place / single(scale));
    case "half_pixel":
      return half();
    case "pytorch_half_pixel":
      return to > 1 ? half() : 0;
    case "align_corners":
      return to > 1 ? single(single(place * (from - 1)) / (to - 1)) : 0;
    default:
      return null;
  }
}
