import { defineRewrite } from "../../rewrite/index.js";
import { broadcastsTo, constantIntegers, hasSameShape, isKnown } from "../../rewrite/match.js";

/** Expand(x, shape) and Tile(x, repeats) that repeat nothing  =>  x */
export const eliminateNoOpExpand = defineRewrite({
  name: "eliminate-no-op-expand",
  summary: "Remove Expand and Tile nodes that repeat nothing",
  numerics: "exact",
  roots: ["Expand", "Tile"],
  rewrite(root) {
    const [input, amounts] = root.inputs;
    if (!input || !amounts) return null;
    const known = constantIntegers(amounts);
    if (root.op === "Tile") {
      // Up to opset 5 Tile took the number of tiles and an axis instead.
      return root.inputs.length === 2 && amounts.shape?.length === 1 && known?.every((n) => n === 1) ? input : null;
    }
    if (hasSameShape(input, root.output) && broadcastsTo(input, root.output)) return input;
    const shape = input.shape;
    if (!known || !shape || known.length > shape.length) return null;
    const isKept = known.every((size, i) => {
      const dim = shape[shape.length - known.length + i];
      return size === 1 || (isKnown(dim) && dim === size);
    });
    return isKept ? input : null;
  },
});
