/**
 * Where an affine map of a value ends: constants, weights and statistics that take its numbers up.
 * What can only hand it on to its inputs is in absorb.ts.
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { splitConstant } from "../../rewrite/match.js";
import { foldedWeights, withWeights } from "../fuse/channel-affine.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { linearOf } from "../fuse/linear.js";
import { type Affine, affineOf, compose } from "./affine.js";
import { combineGrids, type Grid, gridOf, mapGrid, vectorAlong } from "./grid.js";

/** Makes the nodes and gives the value that stands in. */
export type Plan = () => Value;
/** A plan, a reason why a likely place declines, or null where there is no such place. */
export type Found = Plan | string | null;

/** What becomes of a map of an input. */
export type Deeper = (input: Value | null | undefined, affine: Affine) => Found;

/** The same node of other inputs; what it gives has the same type. */
export function again(node: Node, inputs: readonly (Value | null)[], { create }: RewriteContext): Value {
  const { label, type } = node.output;
  return create(node.op, inputs, node.attributes, { like: node, labels: [label], types: [type] }).output;
}

export function intoConstant(value: Value, { scale, shift }: Affine, context: RewriteContext): Found {
  const tensor = value.constant!;
  const before = gridOf(tensor, tensor.dims.length);
  const scaled = before && (scale ? combineGrids(before, scale, (x, y) => x * y) : before);
  const after = scaled && (shift ? combineGrids(scaled, shift, (x, y) => x + y) : scaled);
  // A row of factors must not blow up one number into a table.
  if (!after || after.data.length !== tensor.elementCount || after.dims.length !== tensor.dims.length) return null;
  const folded = tensorLike(tensor.dtype, tensor.dims, after.data);
  if (!folded) return "a folded constant leaves the range of its type";
  return () => context.constant(value.label, folded);
}

export function intoLinear(node: Node, { scale, shift }: Affine, context: RewriteContext): Found {
  const linear = linearOf(node);
  if (typeof linear === "string") return linear;
  const rank = node.output.shape?.length ?? linear.outputRank;
  if (rank === null) return "the rank of the result is unknown";
  // A bias for a MatMul of more than two axes would be a node of its own again.
  if (shift && node.op === "MatMul" && rank !== 2) return null;
  if (scale && linear.weight.useCount > 1) return "other nodes read the weight";
  const axis = rank + linear.channelAxis;
  const factors = scale && vectorAlong(scale, axis, linear.channels);
  const addends = shift && vectorAlong(shift, axis, linear.channels);
  if ((scale && !factors) || (shift && !addends)) return `the constant is not one number per channel of the ${node.op}`;
  const folded = foldedWeights(linear, { scale: factors, shift: addends });
  if (typeof folded === "string") return folded;
  return () => withWeights(linear, node.inputs[0]!, folded, context).output;
}

export function intoBatchNorm(norm: Node, affine: Affine, context: RewriteContext): Found {
  const [x, gamma, beta, mean, variance] = norm.inputs;
  const own = affineOf(norm, context.opset);
  const rank = x?.shape?.length;
  if (!own || typeof own === "string" || !rank || !gamma?.constant || !beta || !mean || !variance?.constant)
    return null;
  const both = compose(affine, own.affine);
  const channels = gamma.constant.elementCount;
  const scale = both?.scale && vectorAlong(both.scale, 1, channels);
  const shift = both?.shift && vectorAlong(both.shift, 1, channels);
  const factors = affine.scale ? vectorAlong(affine.scale, 1, channels) : new Float64Array(channels).fill(1);
  const old = gridOf(gamma.constant, 1);
  if (!scale || !shift || !factors || !old) return null;
  const newGamma = tensorLike(
    gamma.constant.dtype,
    [channels],
    old.data.map((g, m) => g * factors[m]!),
  );
  // With the mean folded into the addend there is one place less to round.
  const newBeta = tensorLike(gamma.constant.dtype, [channels], shift);
  const newMean = tensorLike(variance.constant.dtype, [channels], new Float64Array(channels));
  if (!newGamma || !newBeta || !newMean) return "folded statistics leave the range of their type";
  return () =>
    again(
      norm,
      [
        x!,
        context.constant(gamma.label, newGamma),
        context.constant(beta.label, newBeta),
        context.constant(mean.label, newMean),
        variance,
      ],
      context,
    );
}

/** -x * s  =>  x * -s        -x + t  =>  t - x */
export function intoNeg(node: Node, { scale, shift }: Affine, context: RewriteContext): Found {
  const grid = scale ? mapGrid(scale, (value) => -value) : shift;
  const x = node.inputs[0]!;
  if (!grid || (scale && shift) || !x.dtype) return null;
  const tensor = tensorLike(x.dtype, trimmed(grid.dims, 0), grid.data);
  if (!tensor) return "a folded constant leaves the range of its type";
  const { label, type } = node.output;
  return () => {
    const constant = context.constant(`${label}/constant`, tensor);
    const inputs = scale ? [x, constant] : [constant, x];
    return context.create(scale ? "Mul" : "Sub", inputs, {}, { like: node, labels: [label], types: [type] }).output;
  };
}

/** A constant factor takes in a factor, a constant addend takes in both when the rest takes in the factor. */
export function intoArithmetic(node: Node, affine: Affine, context: RewriteContext, deeper: Deeper): Found {
  const { constant, other, index } = splitConstant(node)!;
  const isFactor = node.op === "Mul" || node.op === "Div";
  const own = gridOf(constant.constant!, node.output.shape!.length);
  if (!own) return null;
  const { scale, shift } = affine;
  const changed = (grid: Grid | null): Plan | string | null => {
    if (!grid) return null;
    if (grid.data.length > Math.max(own.data.length, scale?.data.length ?? 1, shift?.data.length ?? 1)) {
      return "the folded constant would be larger than its parts";
    }
    const dims = trimmed(grid.dims, constant.constant!.dims.length);
    const tensor = tensorLike(constant.constant!.dtype, dims, grid.data);
    return tensor ? () => context.constant(constant.label, tensor) : "a folded constant leaves the range of its type";
  };
  const rebuilt = (x: Plan | Value, made: Plan | string | null): Found => {
    if (typeof made !== "function") return made;
    return () => {
      const [one, two] = [typeof x === "function" ? x() : x, made()];
      return again(node, index === 0 ? [two, one] : [one, two], context);
    };
  };
  if (isFactor) {
    if (shift) return scale ? null : pastFactor(node, shift, context);
    return rebuilt(other, changed(combineGrids(own, scale!, node.op === "Mul" ? (x, y) => x * y : (x, y) => x / y)));
  }
  const scaled = scale ? combineGrids(own, scale, (x, y) => x * y) : own;
  const sign = node.op === "Sub" && index === 1 ? -1 : 1;
  const moved = scaled && shift ? combineGrids(scaled, shift, (x, y) => x + sign * y) : scaled;
  // A factor alone finds its place above: x * s + t * s.
  const x = scale ? deeper(other, { scale, shift: null }) : other;
  if (x === null || typeof x === "string") return x;
  return rebuilt(x, changed(moved));
}

/** (x + a) * b + t  =>  x * b + (a * b + t) */
function pastFactor(factor: Node, shift: Grid, context: RewriteContext): Found {
  const { constant, other, index } = splitConstant(factor)!;
  const sum = soleReader(other) && (other.producer?.is("Add") || other.producer?.is("Sub")) ? other.producer : null;
  const inner = sum && affineOf(sum, context.opset);
  const outer = affineOf(factor, context.opset);
  if (!inner || typeof inner === "string" || inner.affine.scale || !outer || typeof outer === "string") return null;
  const both = compose(outer.affine, inner.affine);
  const all = both && compose({ scale: null, shift }, both)?.shift;
  const addend = splitConstant(sum!)!.constant;
  if (!all || all.data.length > Math.max(addend.constant!.elementCount, shift.data.length)) return null;
  const tensor = tensorLike(addend.dtype!, trimmed(all.dims, addend.constant!.dims.length), all.data);
  if (!tensor) return "a folded constant leaves the range of its type";
  return () => {
    const scaled = again(factor, index === 0 ? [constant, inner.x] : [inner.x, constant], context);
    const options = { like: sum!, types: [factor.output.type] };
    return context.create("Add", [scaled, context.constant(addend.label, tensor)], {}, options).output;
  };
}

/** Leading ones beyond `rank` dropped, as the constant was written. */
function trimmed(dims: readonly number[], rank: number): readonly number[] {
  let from = 0;
  while (dims.length - from > rank && dims[from] === 1) from++;
  return dims.slice(from);
}
