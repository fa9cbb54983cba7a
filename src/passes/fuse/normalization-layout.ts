/**
 * Which numbers go with which elements of a normalized tensor: LayerNormalization and
 * RMSNormalization have one factor per element of the last axes, InstanceNormalization and
 * GroupNormalization one per channel.
 */
import { elementCount, type Node, type Value } from "../../ir/index.js";
import { isKnown, producerOf } from "../../rewrite/match.js";
import { floatsOf } from "./linear.js";

export interface NormalizationLayout {
  readonly x: Value;
  /** Sizes that a factor has, aligned with the last axes of x: [features...], or [channels, 1, ...]. */
  readonly dims: readonly number[];
  /** Shape of the factor as the operator takes it. */
  readonly factorDims: readonly number[];
}

/** Whether a normalization has a factor for each channel. */
export const hasFactorPerChannel = (norm: Node): boolean =>
  norm.is("InstanceNormalization") || norm.is("GroupNormalization");

/** The layout of a normalization whose factor has the expected shape; null otherwise. */
export function layoutOf(norm: Node): NormalizationLayout | null {
  const [x, factor] = norm.inputs;
  const shape = x?.shape;
  if (!x || !shape || !factor?.shape) return null;
  if (hasFactorPerChannel(norm)) {
    const channels = factor.shape[0];
    if (shape.length < 3 || !isKnown(channels)) return null;
    // Before opset 21 its factors were one per group.
    if (norm.is("GroupNormalization") && channels !== shape[1]) return null;
    return { x, dims: [channels, ...shape.slice(2).map(() => 1)], factorDims: [channels] };
  }
  const axis = norm.int("axis", -1);
  const dims = shape.slice(axis);
  if (axis < -shape.length || axis >= shape.length || !areKnown(dims)) return null;
  const isPlain = factor.shape.length === dims.length && dims.every((dim, i) => dim === factor.shape![i]);
  return isPlain ? { x, dims, factorDims: dims } : null;
}

export const areKnown = (dims: readonly unknown[]): dims is number[] => dims.every((dim) => typeof dim === "number");

/** A constant spread over `dims`, in their order; null when it does not fit, or would raise the rank of x. */
export function spreadOver(value: Value, { x, dims }: NormalizationLayout): Float64Array | null {
  const tensor = value.constant;
  const data = tensor && floatsOf(tensor);
  if (!tensor || !data || tensor.dims.length > (x.shape?.length ?? 0)) return null;
  const lead = tensor.dims.length - dims.length;
  const fits = tensor.dims.every((dim, i) => dim === 1 || (i >= lead && dim === dims[i - lead]));
  if (!fits) return null;
  const result = new Float64Array(elementCount(dims));
  for (let i = 0; i < result.length; i++) {
    let rest = i;
    let at = 0;
    let stride = 1;
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      const own = tensor.dims[axis + lead] ?? 1;
      if (own !== 1) at += (rest % dims[axis]!) * stride;
      stride *= own;
      rest = Math.floor(rest / dims[axis]!);
    }
    result[i] = data[at]!;
  }
  return result;
}

/** The tensor of exactly `dims` of which a value is a view with ones in front; the value itself when it is that. */
export function vectorBehind(value: Value, { x, dims }: NormalizationLayout): Value | null {
  const { shape } = value;
  if (!shape || shape.length > (x.shape?.length ?? 0) || shape.length < dims.length) return null;
  const lead = shape.length - dims.length;
  if (!shape.every((dim, i) => (i < lead ? dim === 1 : dim === dims[i - lead]))) return null;
  let at: Value = value;
  for (let depth = 0; depth < 4; depth++) {
    if (at.shape?.length === dims.length && dims.every((dim, i) => dim === at.shape![i])) return at;
    const view: Node | null | undefined = ["Reshape", "Flatten", "Unsqueeze"]
      .map((op) => producerOf(at, op, at.graph))
      .find((node) => node !== null);
    const source: Value | null | undefined = view?.inputs[0];
    if (!source) return null;
    at = source;
  }
  return null;
}

/** Whether a value has one number per element of the last axes of `x`, and more than one of them. */
export function liesAlong(value: Value, x: Value, axisCount: number): boolean {
  const shape = value.shape ?? [];
  const dims = x.shape?.slice(-axisCount) ?? [];
  const tail = shape.slice(-axisCount);
  const lead = shape.slice(0, Math.max(0, shape.length - axisCount));
  if (tail.length !== dims.length || !areKnown(tail) || !lead.every((dim) => dim === 1)) return false;
  return elementCount(tail) > 1 && tail.every((dim, i) => dim === dims[i]);
}
