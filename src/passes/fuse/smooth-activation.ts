/**
 *   1 / (1 + Exp(-x)),  Exp(x) / (1 + Exp(x))   =>  Sigmoid(x)
 *   2 * Sigmoid(2 * x) - 1                      =>  Tanh(x)
 *   s * Tanh(W x) + s                           =>  2 * s * Sigmoid(2 * W x)
 *   x / (1 + Abs(x))                            =>  Softsign(x)
 *   x * Tanh(Softplus(x))                       =>  Mish(x)
 *   a * Elu(x / a)                              =>  Celu<alpha=a>(x)
 *   c * Elu<a>(x)                               =>  Selu<alpha=a, gamma=c>(x)
 *
 *   Where(x > 20, x, Softplus(x))               =>  Softplus(x)
 *
 * x * Sigmoid(x) stays as it is: ONNX Runtime has a kernel for the pair, and none for Swish.
 */
import { attr, type Node, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { producerOf, soleProducer } from "../../rewrite/match.js";
import { choicesOf } from "./comparison.js";
import { isNear, lineOf, lineOfNode, numberBeside } from "./scalar-algebra.js";

const isHandled = (x: Value): boolean => x.dtype === "f32" || x.dtype === "f16";

/** u of 1 + op(u), the operator being read by nobody else. */
function onePlus(value: Value | null | undefined, op: string): { node: Node; of: Value } | null {
  if (!value || !soleProducer(value, "Add")) return null;
  const { base, scale, offset } = lineOf(value);
  const node = scale === 1 && offset === 1 ? producerOf(base, op, value.graph) : null;
  const of = node?.inputs[0];
  return node && of ? { node, of } : null;
}

export const fuseSigmoid = defineRewrite({
  name: "fuse-sigmoid",
  summary: "Turn a sigmoid written out into Sigmoid",
  numerics: "rounding",
  roots: ["Div", "Reciprocal"],
  minOpset: 6,
  rewrite(root, { create }) {
    const [a, b] = root.inputs;
    const isInverse = root.op === "Reciprocal" || (a && b && numberBeside(a, b) === 1);
    const found = onePlus(root.op === "Reciprocal" ? a : b, "Exp");
    if (!found || !isHandled(found.of)) return null;
    const { node, of } = found;
    if (!isInverse) {
      const readers = node.output.uses.every((use) => use.kind === "input");
      return a === node.output && readers && node.output.useCount === 2 ? create("Sigmoid", [of]) : null;
    }
    const x = node.output.useCount === 1 ? negatedBy(of) : null;
    return x && create("Sigmoid", [x]);
  },
});

/** x of -x */
function negatedBy(value: Value): Value | null {
  const node = soleProducer(value, "Neg") ?? soleProducer(value, "Mul");
  const line = node && lineOfNode(node);
  return line?.scale === -1 && line.offset === 0 ? line.base : null;
}

export const fuseTanh = defineRewrite({
  name: "fuse-tanh",
  summary: "Turn a hyperbolic tangent made of a sigmoid into Tanh",
  numerics: "rounding",
  roots: ["Sub", "Add"],
  minOpset: 6,
  rewrite(root, { create }) {
    const { base, scale, offset } = lineOf(root.output, root);
    const sigmoid = scale === 2 && offset === -1 ? soleProducer(base, "Sigmoid") : null;
    const argument = sigmoid?.inputs[0];
    const double = argument ? (soleProducer(argument, "Mul") ?? soleProducer(argument, "Add")) : null;
    if (!argument || !double) return null;
    const line = lineOfNode(double);
    const x = line?.scale === 2 && line.offset === 0 ? line.base : null;
    return x && isHandled(x) ? create("Tanh", [x]) : null;
  },
});

/** What makes a tensor by a weight that can take in a factor. */
const LINEAR = ["Conv", "ConvTranspose", "Gemm", "MatMul"];

/** Generators of images end so. The factor 2 of the argument goes into the weight. */
export const fuseShiftedTanh = defineRewrite({
  name: "fuse-shifted-tanh",
  summary: "Turn a hyperbolic tangent of weighted sums, moved above zero, into Sigmoid",
  numerics: "rounding",
  roots: ["Add", "Mul", "Div", "Sub"],
  minOpset: 7,
  rewrite(root, { create, constant }) {
    const { base, scale, offset } = lineOf(root.output, root);
    const x = soleProducer(base, "Tanh")?.inputs[0];
    if (!x || !(scale > 0) || !isNear(offset, scale, x.dtype) || x.dtype !== "f32") return null;
    const linear = LINEAR.map((op) => soleProducer(x, op)).find((node) => node !== null);
    const weight = linear?.inputs[1];
    // A weight that others read takes in nothing.
    if (!weight?.constant || weight.useCount > 1) return null;
    const number = (label: string, value: number): Value =>
      constant(label, Tensor.ofArray("f32", [], Float32Array.of(value)));
    const gate = create("Sigmoid", [create("Mul", [x, number("two", 2)]).output]);
    return 2 * scale === 1 ? gate : create("Mul", [gate.output, number("scale", 2 * scale)]);
  },
});

export const fuseSoftsign = defineRewrite({
  name: "fuse-softsign",
  summary: "Turn x / (1 + Abs(x)) into Softsign",
  numerics: "rounding",
  roots: ["Div"],
  minOpset: 6,
  rewrite(root, { create }) {
    const [x, divisor] = root.inputs;
    const found = onePlus(divisor, "Abs");
    if (!x || found?.of !== x || found.node.output.useCount !== 1) return null;
    return x.dtype === "f32" ? create("Softsign", [x]) : null;
  },
});

export const fuseMish = defineRewrite({
  name: "fuse-mish",
  summary: "Turn x * Tanh(Softplus(x)) into Mish",
  numerics: "rounding",
  roots: ["Mul"],
  minOpset: 18,
  rewrite(root, { create }) {
    const x = mishInput(root);
    return x && isHandled(x) ? create("Mish", [x]) : null;
  },
});

/** The x of x * Tanh(Softplus(x)); null for other products. */
export function mishInput({ inputs: [a, b] }: Node): Value | null {
  for (const [x, gate] of [
    [a, b],
    [b, a],
  ]) {
    const softplus = soleProducer(soleProducer(gate, "Tanh")?.inputs[0], "Softplus");
    if (x && softplus?.inputs[0] === x) return x;
  }
  return null;
}

export const fuseCelu = defineRewrite({
  name: "fuse-celu",
  summary: "Turn a * Elu(x / a) into Celu",
  numerics: "rounding",
  roots: ["Mul", "Div"],
  minOpset: 12,
  rewrite(root, { create }) {
    const scaled = eluTimes(root);
    if (scaled?.elu.float("alpha", 1) !== 1 || !(scaled.factor > 0)) return null;
    const { elu, factor } = scaled;
    const node = soleProducer(elu.inputs[0], "Div") ?? soleProducer(elu.inputs[0], "Mul");
    const line = node && lineOfNode(node);
    if (line?.offset !== 0 || !isNear(line.scale * factor, 1, null) || line.base.dtype !== "f32") return null;
    return create("Celu", [line.base], { alpha: attr.float(factor) });
  },
});

export const fuseSelu = defineRewrite({
  name: "fuse-selu",
  summary: "Turn a multiple of Elu into Selu",
  numerics: "rounding",
  roots: ["Mul", "Div"],
  minOpset: 6,
  rewrite(root, { create }) {
    const scaled = eluTimes(root);
    const x = scaled?.elu.inputs[0];
    if (!scaled || x?.dtype !== "f32") return null;
    return create("Selu", [x], { alpha: attr.float(scaled.elu.float("alpha", 1)), gamma: attr.float(scaled.factor) });
  },
});

function eluTimes(root: Node): { elu: Node; factor: number } | null {
  const line = lineOfNode(root);
  const elu = line && line.offset === 0 ? soleProducer(line.base, "Elu") : null;
  return elu && line ? { elu, factor: line.scale } : null;
}

/** From here on, Softplus(x) and x are the same float32. */
const SOFTPLUS_IS_X = 17;

export const fuseSoftplusThreshold = defineRewrite({
  name: "fuse-softplus-threshold",
  summary: "Remove the choice of x itself where Softplus is as good as x",
  numerics: "rounding",
  roots: ["Where"],
  minOpset: 9,
  rewrite(root) {
    for (const { x, bound, below, above } of choicesOf(root)) {
      const softplus = producerOf(below, "Softplus", root.graph);
      const limit = numberBeside(bound, x);
      if (above === x && softplus?.inputs[0] === x && isHandled(x) && limit !== null && limit >= SOFTPLUS_IS_X) {
        return softplus.output;
      }
    }
    return null;
  },
});
