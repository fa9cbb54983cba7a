/**
 * Finds who can take up an affine map of a value: the nodes that compute it are planned
 * anew, from the value up to weights and constants in which the numbers vanish.
 *
 *   BatchNormalization(AveragePool(Conv(x, W, b)))  =>  AveragePool(Conv(x, W', b'))
 *   Mul(Concat(Conv(x, V), Gemm(...)), c)           =>  Concat(Conv(x, V'), Gemm'(...))
 *   Mul(Add(Mul(x, a), b), c)                       =>  Add(Mul(x, ac), bc)
 *
 * A plan makes nothing until it is carried out, and there is one only when every path
 * ends well. Each value on the way has one reader: nobody else sees other numbers.
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { hasSameShape, splitConstant } from "../../rewrite/match.js";
import { foldedWeights, withWeights } from "../fuse/channel-affine.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { linearOf } from "../fuse/linear.js";
import { type Affine, affineOf, compose } from "./affine.js";
import { combineGrids, type Grid, gridOf, isUniform, mapGrid, sliceGrid, vectorAlong } from "./grid.js";
import { passageOf } from "./passage.js";

/** Makes the nodes and gives the value that stands in. */
export type Plan = () => Value;
/** A plan, a reason why a likely place declines, or null where there is no such place. */
export type Found = Plan | string | null;

const DEEPEST = 12;
const linearOps = ["Conv", "ConvTranspose", "Gemm", "MatMul"];

export function absorb(value: Value, affine: Affine, context: RewriteContext, depth = 0): Found {
  if (value.constant) return intoConstant(value, affine, context);
  const node = value.producer;
  if (!node || node.graph !== value.graph || node.domain !== "" || depth > DEEPEST) return null;
  if (soleReader(value) === null) return isLinear(node) ? `other nodes read the ${node.op}` : null;
  // Both sides of a sum are tried in turn: a deep tree of them would be tried too often.
  const step = node.op === "Add" || node.op === "Sub" ? 3 : 1;
  return intoNode(node, affine, context, (input, map) => (input ? absorb(input, map, context, depth + step) : null));
}

const isLinear = (node: Node): boolean => linearOps.includes(node.op) && !!node.inputs[1]?.constant;

type Deeper = (input: Value | null | undefined, affine: Affine) => Found;

function intoNode(node: Node, affine: Affine, context: RewriteContext, deeper: Deeper): Found {
  if (isLinear(node)) return intoLinear(node, affine, context);
  if (node.op === "MatMul") return intoProduct(node, affine, context, deeper);
  if (node.op === "Concat") return intoConcat(node, affine, context, deeper);
  const own = affineOf(node, context.opset);
  if (own && typeof own !== "string") {
    const both = compose(affine, own.affine);
    const through = both && deeper(own.x, both);
    if (typeof through === "function") return through;
    if (node.op === "Neg") return intoNeg(node, affine, context);
    return node.op === "BatchNormalization"
      ? intoBatchNorm(node, affine, context)
      : intoArithmetic(node, affine, context, deeper);
  }
  if (node.op === "Add" || node.op === "Sub") return intoTerms(node, affine, context, deeper);
  if (node.op === "Mul" || node.op === "Div") return intoFactor(node, affine, context, deeper);
  return throughPassage(node, affine, context, deeper);
}

/** The same node of other inputs; what it gives has the same type. */
function again(node: Node, inputs: readonly (Value | null)[], { create }: RewriteContext): Value {
  const { label, type } = node.output;
  return create(node.op, inputs, node.attributes, { like: node, labels: [label], types: [type] }).output;
}

function intoConstant(value: Value, { scale, shift }: Affine, context: RewriteContext): Found {
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

function intoLinear(node: Node, { scale, shift }: Affine, context: RewriteContext): Found {
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

/** a @ b with nothing constant: factors of columns go into b, of rows into a. */
function intoProduct(node: Node, { scale, shift }: Affine, context: RewriteContext, deeper: Deeper): Found {
  const [a, b] = node.inputs;
  const rank = node.output.shape?.length;
  if (shift || !scale || !a?.shape || !b?.shape || !rank) return null;
  if (a.shape.length !== rank || b.shape.length !== rank || rank < 2) return null;
  for (const [index, fixed] of [
    [1, rank - 2],
    [0, rank - 1],
  ] as const) {
    const isOnlyThere = isUniform(scale) || vectorAlong(scale, 2 * rank - 3 - fixed, scale.data.length) !== null;
    const found = isOnlyThere ? deeper(node.inputs[index], { scale, shift }) : null;
    if (typeof found !== "function") continue;
    return () => again(node, index === 0 ? [found(), b] : [a, found()], context);
  }
  return null;
}

function intoConcat(node: Node, affine: Affine, context: RewriteContext, deeper: Deeper): Found {
  const rank = node.output.shape?.length;
  if (!rank) return null;
  const given = node.int("axis", 1);
  const axis = given < 0 ? given + rank : given;
  const plans: Plan[] = [];
  let at = 0;
  for (const input of node.inputs) {
    const size = input?.shape?.[axis];
    const varies = [affine.scale, affine.shift].some((grid) => grid && grid.dims[axis] !== 1);
    if (!input?.shape || (varies && typeof size !== "number")) return null;
    const end = typeof size === "number" ? at + size : at;
    const part = (grid: Grid | null): Grid | null => grid && sliceGrid(grid, axis, at, end);
    const found = deeper(input, { scale: part(affine.scale), shift: part(affine.shift) });
    if (typeof found !== "function") return found === null ? null : `in one branch of the Concat, ${found}`;
    plans.push(found);
    at = end;
  }
  return () =>
    again(
      node,
      plans.map((plan) => plan()),
      context,
    );
}

function intoBatchNorm(norm: Node, affine: Affine, context: RewriteContext): Found {
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
function intoNeg(node: Node, { scale, shift }: Affine, context: RewriteContext): Found {
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
function intoArithmetic(node: Node, affine: Affine, context: RewriteContext, deeper: Deeper): Found {
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

/** (a + b) * s + t  =>  (a * s + t) + b * s */
function intoTerms(node: Node, { scale, shift }: Affine, context: RewriteContext, deeper: Deeper): Found {
  const [a, b] = node.inputs;
  if (!a || !b || node.attributes.has("axis")) return null;
  if (!hasSameShape(a, node.output) || !hasSameShape(b, node.output)) return null;
  const sign = node.op === "Sub" ? -1 : 1;
  let reason: string | null = null;
  for (const first of [0, 1] as const) {
    const grid = first === 1 && sign < 0 && shift ? { ...shift, data: shift.data.map((value) => -value) } : shift;
    const one = deeper(node.inputs[first], { scale, shift: grid });
    const two = scale ? deeper(node.inputs[1 - first], { scale, shift: null }) : node.inputs[1 - first]!;
    if (typeof one === "function" && two !== null && typeof two !== "string") {
      return () => {
        const made = [one(), typeof two === "function" ? two() : two] as const;
        return again(node, first === 0 ? made : [made[1], made[0]], context);
      };
    }
    reason ??= ([one, two].find((found) => typeof found === "string") as string | undefined) ?? null;
    if (!shift) break;
  }
  return reason;
}

/** (a * b) * s  =>  (a * s) * b */
function intoFactor(node: Node, { scale, shift }: Affine, context: RewriteContext, deeper: Deeper): Found {
  const [a, b] = node.inputs;
  if (shift || !scale || !a || !b || node.attributes.has("axis")) return null;
  for (const index of node.op === "Mul" ? ([0, 1] as const) : ([0] as const)) {
    const input = node.inputs[index]!;
    if (!hasSameShape(input, node.output)) continue;
    const found = deeper(input, { scale, shift });
    if (typeof found === "function") return () => again(node, index === 0 ? [found(), b] : [a, found()], context);
  }
  return null;
}

function throughPassage(node: Node, affine: Affine, context: RewriteContext, deeper: Deeper): Found {
  const passage = passageOf(node);
  if (!passage) return null;
  const { scale, shift } = affine;
  const before = {
    scale: scale && passage.move(scale, "back"),
    shift: shift && passage.move(shift, "back"),
  };
  const fits = (!scale || before.scale) && (!shift || before.shift);
  const found = fits ? deeper(node.inputs[0], before) : null;
  if (typeof found !== "function") return found;
  if (shift && !passage.takesShift) return `an addend does not pass ${node.op}`;
  if (passage.needsPositive && scale && !scale.data.every((factor) => factor > 0)) {
    return `a factor that is not above zero does not pass ${node.op}`;
  }
  return () => again(node, [found(), ...node.inputs.slice(1)], context);
}
