/**
 * Gemm(a, V, c) + Gemm(b, W, d)  =>  Gemm(a, V, Gemm(b, W, c + d))
 *
 * A Gemm starts from its addend, so that the sum costs nothing. MatMul and Add are Gemms by now.
 */
import { type Attribute, attr, type Node, soleReader, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { hasSameShape, soleProducer } from "../../rewrite/match.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { type Linear, linearOf } from "../fuse/linear.js";

export const fuseGemmSum = defineRewrite({
  name: "fuse-gemm-sum",
  summary: "Let one of two Gemms that are added start from the result of the other",
  numerics: "rounding",
  roots: ["Add"],
  minOpset: 7,
  rewrite(sum, { create, constant, skip }) {
    const [first, second] = sum.inputs.map((input) => gemmBehind(input, sum));
    if (!first || !second || first === second || !hasSameShape(first.output, second.output)) return null;
    const [outer, inner] = [linearOf(first), linearOf(second)];
    if (typeof outer === "string") return skip(outer);
    if (typeof inner === "string") return skip(inner);
    if (outer.weightTensor.dtype !== inner.weightTensor.dtype) return null;
    const inputs: Value[] = inner.node.inputs.slice(0, 2) as Value[];
    const bias = biasOf(inner, outer);
    if (bias.some((value) => value !== 0)) {
      const tensor = tensorLike(inner.weightTensor.dtype, [bias.length], bias);
      if (!tensor) return skip("the sum of the addends leaves the range of its type");
      inputs.push(constant(inner.biasLabel, tensor));
    }
    const started = create("Gemm", inputs, withBeta(second), { like: second, types: [second.output.type] });
    const factors = first.inputs.slice(0, 2) as Value[];
    return create("Gemm", [...factors, started.output], withBeta(first), { like: first, types: [sum.output.type] });
  },
});

function gemmBehind(value: Value | null, sum: Node): Node | null {
  const node = soleProducer(value, "Gemm");
  return node && value && soleReader(value) === sum ? node : null;
}

const biasOf = (a: Linear, b: Linear): Float64Array => a.bias.map((value, i) => value + b.bias[i]!);

/** What a Gemm says of its factors; its addend counts once. */
const withBeta = (gemm: Node): Map<string, Attribute> => new Map([...gemm.attributes, ["beta", attr.float(1)]]);
