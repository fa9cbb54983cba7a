/** Operators that work element by element, with NumPy broadcasting where they take two. */
import type { Value } from "../../../ir/index.js";
import { NoGradient } from "../formula.js";
import type { GradientRule, Site } from "../gradient-rule.js";

/** dx = dy * slope(x, y) */
const unary =
  (slope: (site: Site, x: Value, y: Value) => Value): GradientRule =>
  (site) => [site.f.mul(site.dy, slope(site, site.input(0), site.y))];

/** The gradient where the condition holds, else nothing. */
const gated =
  (condition: (site: Site, x: Value, y: Value) => Value, factor: (site: Site) => number = () => 1): GradientRule =>
  (site) => {
    const passed = site.f.times(site.dy, factor(site));
    return [site.f.where(condition(site, site.input(0), site.y), passed, site.f.scalar(0))];
  };

const isPositive = ({ f }: Site, x: Value): Value => f.op("Greater", [x, f.scalar(0)]);
const isBetween = ({ f }: Site, x: Value, low: number, high: number): Value =>
  f.op("And", [f.op("Greater", [x, f.scalar(low)]), f.op("Less", [x, f.scalar(high)])]);

/** y = a + b, a - b */
const linear =
  (signs: readonly [number, number]): GradientRule =>
  (site) =>
    signs.map((sign, i) => site.ifWanted(i, () => site.unbroadcast(site.f.times(site.dy, sign), i)));

const multiply: GradientRule = (site) =>
  [0, 1].map((i) => site.ifWanted(i, () => site.unbroadcast(site.f.mul(site.dy, site.input(1 - i)), i)));

/** y = a / b: da = dy / b, db = -dy y / b */
const divide: GradientRule = (site) => {
  const { f, dy, y } = site;
  const [, b] = [site.input(0), site.input(1)];
  return [
    site.ifWanted(0, () => site.unbroadcast(f.div(dy, b), 0)),
    site.ifWanted(1, () => site.unbroadcast(f.times(f.div(f.mul(dy, y), b), -1), 1)),
  ];
};

const sumOfAll: GradientRule = (site) =>
  site.node.inputs.map((_, i) => site.ifWanted(i, () => site.unbroadcast(site.dy, i)));

/** dx = dy p x^(p-1); the exponent is taken as given. */
const power: GradientRule = (site) => {
  const { f, dy } = site;
  const [x, p] = [site.input(0), site.input(1)];
  const exponents = p.constant?.toF32();
  if (!exponents || p.dtype !== "f32") throw new NoGradient("its exponent is no float32 constant");
  if (site.wanted.has(1)) throw new NoGradient("its exponent would be learned");
  const slope = exponents.every((each) => each === 2)
    ? f.times(x, 2)
    : f.mul(p, f.op("Pow", [x, f.sub(p, f.scalar(1))]));
  return [site.unbroadcast(f.mul(dy, slope), 0), null];
};

/** y = x where x > 0, else slope * x */
const leaky: GradientRule = (site) => {
  const { f, dy } = site;
  return [f.where(isPositive(site, site.input(0)), dy, f.times(dy, site.node.float("alpha", 0.01)))];
};

const learnedLeak: GradientRule = (site) => {
  const { f, dy } = site;
  const [x, slope] = [site.input(0), site.input(1)];
  return [
    site.ifWanted(0, () => f.where(isPositive(site, x), dy, f.mul(dy, slope))),
    site.ifWanted(1, () => site.unbroadcast(f.where(isPositive(site, x), f.scalar(0), f.mul(dy, x)), 1)),
  ];
};

/** The bounds get none: they are taken as given. */
const clip: GradientRule = (site) => [
  site.f.where(site.f.op("Equal", [site.input(0), site.y]), site.dy, site.f.scalar(0)),
];

/** y = x max(0, min(1, x / 6 + 1 / 2)) */
const hardSwish: GradientRule = (site) => {
  const { f, dy } = site;
  const x = site.input(0);
  const inner = f.add(f.times(x, 1 / 3), f.scalar(0.5));
  const upper = f.where(f.op("Less", [x, f.scalar(3)]), inner, f.scalar(1));
  return [f.mul(dy, f.where(f.op("Greater", [x, f.scalar(-3)]), upper, f.scalar(0)))];
};

/** y = x Phi(x), or its tanh form: y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3) */
const gelu: GradientRule = (site) => {
  const { f, dy, node } = site;
  const x = site.input(0);
  if (node.string("approximate", "none") === "tanh") {
    const [c, cubic] = [Math.sqrt(2 / Math.PI), 0.044715];
    const xx = f.square(x);
    const t = f.op("Tanh", [f.times(f.mul(x, f.add(f.times(xx, cubic), f.scalar(1))), c)]);
    const du = f.times(f.add(f.times(xx, 3 * cubic), f.scalar(1)), c / 2);
    const turned = f.mul(f.mul(x, f.sub(f.scalar(1), f.square(t))), du);
    return [f.mul(dy, f.add(f.times(f.add(t, f.scalar(1)), 0.5), turned))];
  }
  const phi = f.times(f.op("Exp", [f.times(f.square(x), -0.5)]), 1 / Math.sqrt(2 * Math.PI));
  const below = f.times(f.add(f.op("Erf", [f.times(x, Math.SQRT1_2)]), f.scalar(1)), 0.5);
  return [f.mul(dy, f.add(below, f.mul(x, phi)))];
};

const choose: GradientRule = (site) => {
  const { f, dy } = site;
  const condition = site.input(0);
  const part = (i: number): Value =>
    i === 1 ? f.where(condition, dy, f.scalar(0)) : f.where(condition, f.scalar(0), dy);
  return [null, ...[1, 2].map((i) => site.ifWanted(i, () => site.unbroadcast(part(i), i)))];
};

/** Of two: the one that was taken gets all; of equals, the first. */
const extreme: GradientRule = (site) => {
  const { f, dy, y, node } = site;
  if (node.inputs.length !== 2) throw new NoGradient(`it has ${node.inputs.length} inputs`);
  const isFirst = f.op("Equal", [y, site.input(0)]);
  return [
    site.ifWanted(0, () => site.unbroadcast(f.where(isFirst, dy, f.scalar(0)), 0)),
    site.ifWanted(1, () => site.unbroadcast(f.where(isFirst, f.scalar(0), dy), 1)),
  ];
};

export const elementwise: Readonly<Record<string, GradientRule>> = {
  Identity: ({ dy }) => [dy],
  // As it is when a model is run.
  Dropout: ({ dy }) => [dy],
  Neg: ({ f, dy }) => [f.times(dy, -1)],
  Add: linear([1, 1]),
  Sub: linear([1, -1]),
  Mul: multiply,
  Div: divide,
  Sum: sumOfAll,
  Pow: power,
  Where: choose,
  Max: extreme,
  Min: extreme,
  Relu: gated(isPositive),
  LeakyRelu: leaky,
  PRelu: learnedLeak,
  Clip: clip,
  HardSigmoid: gated(
    (site, _x, y) => isBetween(site, y, 0, 1),
    ({ node }) => node.float("alpha", 0.2),
  ),
  HardSwish: hardSwish,
  Gelu: gelu,
  Sigmoid: unary(({ f }, _x, y) => f.mul(y, f.sub(f.scalar(1), y))),
  Tanh: unary(({ f }, _x, y) => f.sub(f.scalar(1), f.square(y))),
  Erf: unary(({ f }, x) => f.times(f.op("Exp", [f.times(f.square(x), -1)]), 2 / Math.sqrt(Math.PI))),
  Exp: unary((_site, _x, y) => y),
  Log: unary(({ f }, x) => f.op("Reciprocal", [x])),
  Sqrt: unary(({ f }, _x, y) => f.div(f.scalar(0.5), y)),
  Reciprocal: unary(({ f }, _x, y) => f.times(f.square(y), -1)),
  Abs: unary(({ f }, x) => f.op("Sign", [x])),
  Softplus: unary(({ f }, x) => f.op("Sigmoid", [x])),
  // Above 0 the slope is 1, below it alpha exp(x) = y + alpha.
  Elu: unary((site, x, y) =>
    site.f.where(isPositive(site, x), site.f.scalar(1), site.f.add(y, site.f.scalar(site.node.float("alpha", 1)))),
  ),
};
