/** Where a Resize finds what it interpolates, by the formulas of the operator's definition. */
import type { Node } from "../ir/index.js";

/** One axis of a Resize: sizes of the input and of the result, and their ratio as the node gives it. */
export interface ResizedAxis {
  readonly from: number;
  readonly to: number;
  readonly scale: number;
}

/** The place of the input, between two as a rule, that a place of the result comes from; null for modes that need more to tell. */
export function resizeSource(node: Node, place: number, { from, to, scale }: ResizedAxis): number | null {
  switch (node.string("coordinate_transformation_mode", "half_pixel")) {
    case "asymmetric":
      return place / scale;
    case "half_pixel":
      return (place + 0.5) / scale - 0.5;
    case "pytorch_half_pixel":
      return to > 1 ? (place + 0.5) / scale - 0.5 : 0;
    case "align_corners":
      return to > 1 ? (place * (from - 1)) / (to - 1) : 0;
    default:
      return null;
  }
}
