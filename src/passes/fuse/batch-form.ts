/**
 * A normalization with its affine part worked into it, as TensorFlow and Keras write it:
 *
 *   i = gamma / sqrt(variance + epsilon), or gamma * (1 / sqrt(variance + epsilon))
 *   y = x * i + (beta - mean * i)
 *
 * gamma and beta may be missing, and the sum may be -mean * i + beta.
 */
import type { Node, Value } from "../../ir/index.js";
import { inputOrders, producerOf, soleProducer } from "../../rewrite/match.js";
import { isMeanOf, momentOfInverse, momentOfRoot, momentOfSharedInverse, type ScaledForm } from "./standardized.js";

export interface BatchForm extends ScaledForm {
  readonly beta: Value | null;
}

export function batchFormOf(root: Node): BatchForm | null {
  const [a, b] = root.inputs;
  if (!a || !b) return null;
  if (root.is("Sub")) return fromParts(a, { product: b, sign: -1, beta: null });
  if (!root.is("Add")) return null;
  for (const [first, second] of [
    [a, b],
    [b, a],
  ] as const) {
    for (const shift of shiftsOf(second)) {
      const form = fromParts(first, shift);
      if (form) return form;
    }
  }
  return null;
}

/** sign * product + beta */
interface Shift {
  readonly product: Value;
  readonly sign: 1 | -1;
  readonly beta: Value | null;
}

function shiftsOf(value: Value): Shift[] {
  const shifts: Shift[] = [{ product: value, sign: 1, beta: null }];
  const difference = soleProducer(value, "Sub");
  if (difference) {
    const [beta, product] = difference.inputs;
    if (beta && product) shifts.push({ product, sign: -1, beta });
  }
  const [first, second] = soleProducer(value, "Add")?.inputs ?? [];
  if (first && second) {
    shifts.push({ product: first, sign: 1, beta: second }, { product: second, sign: 1, beta: first });
  }
  return shifts;
}

/** From x * i and the shift. */
function fromParts(scaled: Value, { product, sign, beta }: Shift): BatchForm | null {
  const main = soleProducer(scaled, "Mul");
  const side = soleProducer(product, "Mul");
  if (!main || !side || main === side) return null;
  for (const [x, inverse] of inputOrders(main)) {
    for (const [centre, other] of inputOrders(side)) {
      if (other !== inverse) continue;
      const negated = sign === 1 ? producerOf(centre, "Neg", centre.graph)?.inputs[0] : centre;
      const form = negated ? fromInverse(x, negated, inverse, [main, side]) : null;
      if (form) return { ...form, beta };
    }
  }
  return null;
}

function fromInverse(x: Value, mean: Value, inverse: Value, readers: readonly Node[]): Omit<BatchForm, "beta"> | null {
  if (!inverse.uses.every((use) => use.kind === "input" && readers.includes(use.node))) return null;
  const scaled = producerOf(inverse, "Mul", x.graph);
  const [factor, root] = producerOf(inverse, "Div", x.graph)?.inputs ?? [];
  const candidates = [
    ...(scaled ? inputOrders(scaled).map(([plain, gamma]) => ({ moment: momentOfInverse(plain), gamma })) : []),
    { moment: momentOfSharedInverse(inverse), gamma: null },
    ...(factor && root ? [{ moment: momentOfRoot(root), gamma: factor }] : []),
  ];
  for (const { moment, gamma } of candidates) {
    if (moment?.x !== x || !moment.mean || !isMeanOf(mean, x, moment.axes)) continue;
    const { axes, epsilon, deviation } = moment;
    if (deviation && !deviation.value.uses.every((use) => use.kind === "input" && use.node === deviation.square))
      continue;
    return { x, axes, epsilon, isCentred: true, gamma };
  }
  return null;
}
