/**
 * Clip(a * x + b, 0, h) / h          =>  HardSigmoid<alpha = a/h, beta = b/h>(x), the line in any order
 * Clip(a * x + b, 0, 1)              =>  HardSigmoid<alpha = a, beta = b>(x)
 * x * Clip(x + 3, 0, 6) / 6          =>  HardSwish(x), before opset 14 Mul(x, HardSigmoid(x))
 * x * HardSigmoid<1/6, 1/2>(x)       =>  HardSwish(x)
 *
 * Products in any order, division by h written as a product by 1/h too. f32 and f16.
 */
import { attr, type Graph, type Node, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { inputOrders, producerOf, scalarBeside, soleProducer, splitConstant } from "../../rewrite/match.js";
import { type ClipRange, clipRangeOf } from "./clip-range.js";
import { lineOf } from "./scalar-algebra.js";

/** Relative distance within which a constant is what it is meant to be. */
const near = (value: number, wanted: number): boolean => Math.abs(value - wanted) <= 1e-5 * Math.abs(wanted);

interface Scaled {
  readonly value: Value;
  readonly factor: number;
}

/** value * factor, when a node multiplies or divides by one number that does not raise the rank. */
function scaledBy(node: Node): Scaled | null {
  if (!node.is("Mul") && !node.is("Div")) return null;
  const operands = splitConstant(node);
  const number = operands && plainNumber(operands.constant, operands.other);
  if (!operands || number === null || number === 0) return null;
  if (node.op === "Mul") return { value: operands.other, factor: number };
  return operands.index === 1 ? { value: operands.other, factor: 1 / number } : null;
}

/** The one number in a float constant whose rank cannot change the result's. */
function plainNumber(constant: Value, other: Value): number | null {
  const { dtype } = constant;
  if (dtype !== "f32" && dtype !== "f16") return null;
  return scalarBeside(constant, other);
}

/** x and b of a sum with one number. */
function shiftedBy(value: Value | null | undefined): { value: Value; shift: number } | null {
  const sum = soleProducer(value, "Add");
  const operands = sum && splitConstant(sum);
  const shift = operands && plainNumber(operands.constant, operands.other);
  return operands && shift !== null ? { value: operands.other, shift } : null;
}

interface Ramp {
  readonly input: Value;
  readonly shift: number;
  readonly height: number;
}

/** Clip(x + b, 0, h), read by nobody else. */
function rampOf(value: Value | null | undefined): Ramp | null {
  const clip = soleProducer(value, "Clip");
  const range = clip && clipRangeOf(clip);
  if (range?.min !== 0 || !Number.isFinite(range.max) || range.max <= 0) return null;
  const sum = shiftedBy(range.input);
  return sum && { input: sum.value, shift: sum.shift, height: range.max };
}

/** Clip(x, 0, h) / h, which is between 0 and 1, of a Clip that nobody else reads. */
export function unitRampOf(root: Node): ClipRange | null {
  const scaled = root.is("Clip") ? { value: root.output, factor: 1 } : scaledBy(root);
  const clip = root.is("Clip") ? root : scaled && soleProducer(scaled.value, "Clip");
  const range = clip && clipRangeOf(clip);
  return scaled && range?.min === 0 && range.max > 0 && near(scaled.factor, 1 / range.max) ? range : null;
}

export const fuseHardSigmoid = defineRewrite({
  name: "fuse-hard-sigmoid",
  summary: "Turn Add, Clip and Div, or Mul, Add and Clip, into HardSigmoid",
  numerics: "rounding",
  roots: ["Div", "Mul", "Clip"],
  minOpset: 6,
  rewrite(root, { create }) {
    const range = unitRampOf(root);
    if (!range) return null;
    const { base, scale, offset } = lineOf(range.input);
    const dtype = base.dtype ?? range.dtype;
    if (base === range.input || scale === 0 || (dtype !== "f32" && dtype !== "f16")) return null;
    return create("HardSigmoid", [base], hardSigmoid(scale / range.max, offset / range.max));
  },
});

const hardSigmoid = (alpha: number, beta: number) => ({ alpha: attr.float(alpha), beta: attr.float(beta) });

export const fuseHardSwish = defineRewrite({
  name: "fuse-hard-swish",
  summary: "Turn x * Clip(x + 3, 0, 6) / 6 into HardSwish",
  numerics: "rounding",
  roots: ["Div", "Mul"],
  minOpset: 6,
  rewrite: (root, context) => fromScaledProduct(root, context) ?? fromProduct(root, context),
});

/** (x * ramp(x)) / h */
function fromScaledProduct(root: Node, context: RewriteContext): Answer {
  const scaled = scaledBy(root);
  const product = scaled && soleProducer(scaled.value, "Mul");
  if (!scaled || !product) return null;
  for (const [x, other] of inputOrders(product)) {
    const ramp = rampOf(other);
    if (ramp && ramp.input === x && near(scaled.factor, 1 / ramp.height)) return hardSwish(x, ramp, context);
  }
  return null;
}

/** (x / h) * ramp(x), or x * HardSigmoid(x) */
function fromProduct(root: Node, context: RewriteContext): Answer {
  if (root.op !== "Mul") return null;
  for (const [first, second] of inputOrders(root)) {
    const part = soleProducer(first, "Div") ?? soleProducer(first, "Mul");
    const scaled = part && scaledBy(part);
    const ramp = rampOf(second);
    if (scaled && ramp && ramp.input === scaled.value && near(scaled.factor, 1 / ramp.height)) {
      return hardSwish(scaled.value, ramp, context);
    }
    const gate = soleProducer(second, "HardSigmoid");
    if (context.opset >= 14 && gate && gate.inputs[0] === first && isSwishGate(gate, root.graph)) {
      return context.create("HardSwish", [first]);
    }
  }
  return null;
}

const isSwishGate = (gate: Node, graph: Graph): boolean =>
  producerOf(gate.output, "HardSigmoid", graph) !== null &&
  near(gate.float("alpha", 0.2), 1 / 6) &&
  near(gate.float("beta", 0.5), 0.5);

function hardSwish(x: Value, { shift, height }: Ramp, { create, opset, skip }: RewriteContext): Answer {
  if (opset >= 14 && near(height, 6) && near(shift, 3)) return create("HardSwish", [x]);
  if (!x.dtype && !x.shape) return skip("nothing is known about the input");
  const gate = create("HardSigmoid", [x], hardSigmoid(1 / height, shift / height));
  return create("Mul", [x, gate.output]);
}
