/** Operators that look at a whole axis: Softmax and the normalizations. */
import { elementCount, fromFront, type Value } from "../../../ir/index.js";
import { dimsOf, type Formula, NoGradient } from "../formula.js";
import { type GradientRule, type Site, summedTo } from "../gradient-rule.js";

/** dx = (dy - sum(dy y)) y */
const softmax: GradientRule = ({ f, dy, y, node }) => {
  const axes = [fromFront(node.int("axis", -1), dimsOf(y).length)];
  return [f.mul(f.sub(dy, f.sum(f.mul(dy, y), axes)), y)];
};

/** dx = dy - exp(y) sum(dy) */
const logSoftmax: GradientRule = ({ f, dy, y, node }) => {
  const axes = [fromFront(node.int("axis", -1), dimsOf(y).length)];
  return [f.sub(dy, f.mul(f.op("Exp", [y]), f.sum(dy, axes)))];
};

interface Normalized {
  /** (x - mean) / sigma, or x / rms. */
  readonly value: Value;
  readonly inverse: Value;
}

/**
 * x normalized over `axes`, and the gradient of x from that of the normalized:
 *
 *   dx = (g - mean(g) - n mean(g n)) / sigma      (without mean(g) where x is not centred)
 */
function normalized(
  f: Formula,
  x: Value,
  axes: readonly number[],
  count: number,
  epsilon: number,
  isCentred: boolean,
): Normalized {
  const mean = (value: Value): Value => f.times(f.sum(value, axes), 1 / count);
  const centred = isCentred ? f.sub(x, mean(x)) : x;
  const deviation = f.op("Sqrt", [f.add(mean(f.square(centred)), f.scalar(epsilon))]);
  const inverse = f.op("Reciprocal", [deviation]);
  return { value: f.mul(centred, inverse), inverse };
}

function throughNormalized(
  f: Formula,
  g: Value,
  { value, inverse }: Normalized,
  axes: readonly number[],
  count: number,
  isCentred: boolean,
): Value {
  const mean = (each: Value): Value => f.times(f.sum(each, axes), 1 / count);
  const turned = f.sub(g, f.mul(value, mean(f.mul(g, value))));
  return f.mul(isCentred ? f.sub(turned, mean(g)) : turned, inverse);
}

/** y = n(x) scale + bias, where scale and bias have the sizes `affine`. */
function affineNormalization(
  site: Site,
  axes: readonly number[],
  affine: readonly number[],
  isCentred: boolean,
): readonly (Value | null)[] {
  const { f, dy, node } = site;
  const dims = site.dims(0);
  const count = elementCount(axes.map((axis) => dims[axis]!));
  const n = normalized(f, site.input(0), axes, count, node.float("epsilon", 1e-5), isCentred);
  const scale = f.reshape(site.input(1), affine);
  const reduced = (value: Value, index: number): Value => f.reshape(summedTo(f, value, dims, affine), site.dims(index));
  return [
    site.ifWanted(0, () => throughNormalized(f, f.mul(dy, scale), n, axes, count, isCentred)),
    site.ifWanted(1, () => reduced(f.mul(dy, n.value), 1)),
    site.optional(2) ? site.ifWanted(2, () => reduced(dy, 2)) : null,
  ];
}

const overLastAxes =
  (isCentred: boolean): GradientRule =>
  (site) => {
    const dims = site.dims(0);
    const first = fromFront(site.node.int("axis", -1), dims.length);
    const axes = dims.flatMap((_, axis) => (axis >= first ? [axis] : []));
    return affineNormalization(site, axes, site.dims(1), isCentred);
  };

const overImages: GradientRule = (site) => {
  const dims = site.dims(0);
  const axes = dims.flatMap((_, axis) => (axis >= 2 ? [axis] : []));
  return affineNormalization(site, axes, [1, dims[1]!, ...axes.map(() => 1)], true);
};

/** y = (x - mean) scale / sqrt(var + eps) + bias, with the mean and variance that the model was trained to. */
const batchNorm: GradientRule = (site) => {
  const { f, dy, node } = site;
  if (node.int("training_mode", 0) !== 0) throw new NoGradient("it is in training mode");
  const dims = site.dims(0);
  const wide = dims.map((size, axis) => (axis === 1 ? size : 1));
  const perChannel = (index: number): Value => f.reshape(site.input(index), wide);
  const deviation = f.op("Sqrt", [f.add(perChannel(4), f.scalar(node.float("epsilon", 1e-5)))]);
  const reduced = (value: Value): Value => f.reshape(summedTo(f, value, dims, wide), [dims[1]!]);
  return [
    site.ifWanted(0, () => f.mul(dy, f.div(perChannel(1), deviation))),
    site.ifWanted(1, () => reduced(f.mul(dy, f.div(f.sub(site.input(0), perChannel(3)), deviation)))),
    site.ifWanted(2, () => reduced(dy)),
  ];
};

export const normalization: Readonly<Record<string, GradientRule>> = {
  Softmax: softmax,
  LogSoftmax: logSoftmax,
  LayerNormalization: overLastAxes(true),
  RMSNormalization: overLastAxes(false),
  InstanceNormalization: overImages,
  BatchNormalization: batchNorm,
};
