/**
 *   ReduceSum(Abs(x))         =>  ReduceL1(x)
 *   Sqrt(ReduceSum(x * x))    =>  ReduceL2(x), also of Pow(x, 2) and of ReduceSumSquare
 *
 * Only for other targets than ONNX Runtime on the CPU, whose kernels for these take two to twelve
 * times as long as the nodes. OpenVINO computes them in half the time of the nodes. Its
 * ReduceSumSquare, ReduceLogSumExp and LpNormalization are not faster than theirs: those stay
 * written out everywhere.
 */
import { attr, type Node, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { constantIntegers, scalarBeside, soleProducer } from "../../rewrite/match.js";

export const fuseReduceNorm = defineRewrite({
  name: "fuse-reduce-norm",
  summary: "Turn sums of magnitudes, and roots of sums of squares, into ReduceL1 and ReduceL2",
  numerics: "rounding",
  roots: ["ReduceSum", "Sqrt"],
  minOpset: 18,
  notOnCpu: "its kernels for ReduceL1 and ReduceL2 on the CPU are slower than these nodes",
  rewrite(root, { create }) {
    if (root.output.dtype !== "f32") return null;
    if (root.is("ReduceSum")) {
      const x = soleProducer(root.inputs[0], "Abs")?.inputs[0];
      return x && reduces(root) ? create("ReduceL1", [x, ...root.inputs.slice(1)], kept(root)) : null;
    }
    const ofSquares = soleProducer(root.inputs[0], "ReduceSumSquare");
    const sum = ofSquares ?? soleProducer(root.inputs[0], "ReduceSum");
    const x = ofSquares ? ofSquares.inputs[0] : squared(sum?.inputs[0]);
    return sum && x && reduces(sum) ? create("ReduceL2", [x, ...sum.inputs.slice(1)], kept(sum)) : null;
  },
});

const kept = (sum: Node) => ({ keepdims: attr.int(sum.int("keepdims", 1)) });

/** Whether a reduction reduces, whatever its axes are: versions disagree on what else it does. */
const reduces = (sum: Node): boolean =>
  sum.int("noop_with_empty_axes", 0) === 0 || (constantIntegers(sum.inputs[1])?.length ?? 0) > 0;

/** The value of which another one is the square. */
function squared(value: Value | null | undefined): Value | null {
  const product = soleProducer(value, "Mul");
  if (product) return product.inputs[0] === product.inputs[1] ? product.inputs[0]! : null;
  const power = soleProducer(value, "Pow");
  return power && scalarBeside(power.inputs[1], power.inputs[0]) === 2 ? power.inputs[0]! : null;
}
