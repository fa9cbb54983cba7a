/**
 * Written-out functions, read as formulas: sums, products and powers with numbers,
 * whatever their order and wherever the factors stand. All nodes passed through are read
 * by nobody else, so they go when their reader goes, and no number raises the rank of what
 * it is combined with.
 */
import type { DType, Node, Value } from "../../ir/index.js";
import { readsOnlyFirst, scalarBeside, soleProducer, splitConstant } from "../../rewrite/match.js";

/** Deepest formula that is followed. */
const DEEPEST = 12;

const floats: ReadonlySet<DType | null> = new Set<DType>(["f32", "f16", "f64", "bf16"]);

/**
 * Whether a constant of this type is what it is meant to be. Exporters round to six digits
 * at the least; a float16 has three.
 */
export function isNear(value: number, wanted: number, dtype: DType | null): boolean {
  const relative = dtype === "f16" ? 1e-3 : 1e-5;
  return Math.abs(value - wanted) <= relative * Math.abs(wanted);
}

/** The one number of a float constant that leaves the shape of `other` as it is. */
export const numberBeside = (constant: Value, other: Value): number | null =>
  floats.has(constant.dtype) ? scalarBeside(constant, other) : null;

/** x and the number beside it, of an operator of two inputs. */
function operandsOf(node: Node): { x: Value; number: number; isSecond: boolean } | null {
  const operands = splitConstant(node);
  const number = operands && numberBeside(operands.constant, operands.other);
  return operands && number !== null ? { x: operands.other, number, isSecond: operands.index === 1 } : null;
}

/** b of 1 / b, which nobody else reads. */
export function inverted(value: Value | null | undefined): Value | null {
  const reciprocal = soleProducer(value, "Reciprocal");
  if (reciprocal) return reciprocal.inputs[0] ?? null;
  const [one, b] = soleProducer(value, "Div")?.inputs ?? [];
  return one && b && numberBeside(one, b) === 1 ? b : null;
}

/** Until opset 6 an attribute said how to broadcast. */
const broadcastsPlainly = (node: Node): boolean => !node.attributes.has("axis") && !node.attributes.has("broadcast");

/** The producer of a value that is read once, by a node of the same graph. */
function innerNode(value: Value): Node | null {
  const { producer } = value;
  return producer && producer.domain === "" && soleProducer(value, producer.op) && broadcastsPlainly(producer)
    ? producer
    : null;
}

/** scale * base + offset */
export interface Line {
  readonly base: Value;
  readonly scale: number;
  readonly offset: number;
}

/**
 * A value as a linear function of another: as far up as the nodes on the way do nothing else.
 * `root`, where it is given, makes the value and may be read by anybody.
 */
export function lineOf(value: Value, root: Node | null = null): Line {
  let line: Line = { base: value, scale: 1, offset: 0 };
  for (let depth = 0; depth < DEEPEST; depth++) {
    const node = depth === 0 && root ? root : innerNode(line.base);
    const step = node && lineOfNode(node);
    if (!step) break;
    line = {
      base: step.base,
      scale: line.scale * step.scale,
      offset: line.scale * step.offset + line.offset,
    };
  }
  return line;
}

/** The output of one node as a linear function of its input; null when it is none. */
export function lineOfNode(node: Node): Line | null {
  if (node.domain !== "" || !broadcastsPlainly(node)) return null;
  if (node.op === "Neg") return { base: node.inputs[0]!, scale: -1, offset: 0 };
  const operands = operandsOf(node);
  if (!operands) return null;
  const { x, number, isSecond } = operands;
  switch (node.op) {
    case "Add":
      return { base: x, scale: 1, offset: number };
    case "Sub":
      return isSecond ? { base: x, scale: 1, offset: -number } : { base: x, scale: -1, offset: number };
    case "Mul":
      return { base: x, scale: number, offset: 0 };
    case "Div":
      return isSecond && number !== 0 ? { base: x, scale: 1 / number, offset: 0 } : null;
    default:
      return null;
  }
}

/** scale * factors[0] * factors[1] * ... */
export interface Product {
  readonly scale: number;
  readonly factors: readonly Value[];
}

/** A node as a product of numbers and other values, in no order; null when it is none. */
export function productOf(root: Node): Product | null {
  if (!["Mul", "Div", "Neg"].includes(root.op) || root.domain !== "" || !broadcastsPlainly(root)) return null;
  let scale = 1;
  const factors: Value[] = [];
  const open: Node[] = [root];
  for (let node = open.pop(), steps = 0; node; node = open.pop()) {
    if (++steps > DEEPEST) return null;
    const step = lineOfNode(node);
    const parts = step && step.offset === 0 ? [step.base] : node.op === "Mul" ? node.inputs : null;
    if (!parts) {
      if (node === root) return null;
      factors.push(node.output);
      continue;
    }
    if (step) scale *= step.scale;
    for (const part of parts) {
      if (!part) return null;
      const inner = innerNode(part);
      if (inner && ["Mul", "Div", "Neg"].includes(inner.op)) open.push(inner);
      else factors.push(part);
    }
  }
  return { scale, factors };
}

/**
 * The coefficients of a value as a polynomial in x, constant term first and without trailing
 * zeros; null when it is none, or of more than the third degree.
 */
export function polynomialIn(value: Value | null | undefined, x: Value, depth = 0): number[] | null {
  if (!value || depth > DEEPEST) return null;
  if (value === x) return [0, 1];
  const node = innerNode(value);
  if (!node || !readsOnlyFirst(node)) return null;
  const [a, b] = node.inputs;
  const term = (input: Value | null | undefined, other: Value | null | undefined): number[] | null => {
    if (!input?.constant) return polynomialIn(input, x, depth + 1);
    // An exponent may be an integer.
    const numberOf = node.op === "Pow" ? scalarBeside : numberBeside;
    const number = other ? numberOf(input, other) : null;
    return number === null ? null : [number];
  };
  if (node.op === "Neg") return term(a, null)?.map((each) => -each) ?? null;
  const [left, right] = [term(a, b), term(b, a)];
  if (!left || !right) return null;
  switch (node.op) {
    case "Add":
      return plus(left, right);
    case "Sub":
      return plus(
        left,
        right.map((each) => -each),
      );
    case "Mul":
      return times(left, right);
    case "Div":
      return right.length === 1 && right[0] !== 0 ? left.map((each) => each / right[0]!) : null;
    case "Pow":
      return right.length === 1 ? power(left, right[0]!) : null;
    default:
      return null;
  }
}

const plus = (a: readonly number[], b: readonly number[]): number[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, i) => (a[i] ?? 0) + (b[i] ?? 0));

function times(a: readonly number[], b: readonly number[]): number[] | null {
  if (a.length + b.length - 1 > 4) return null;
  const product = new Array<number>(a.length + b.length - 1).fill(0);
  for (const [i, one] of a.entries()) for (const [j, other] of b.entries()) product[i + j]! += one * other;
  return product;
}

function power(base: readonly number[], exponent: number): number[] | null {
  if (exponent !== 2 && exponent !== 3) return null;
  const square = times(base, base);
  return exponent === 2 || !square ? square : times(square, base);
}
