/**
 * y = x * scale + shift with constants: what a Mul, Div, Add, Sub, Neg or
 * BatchNormalization says about its input, whatever the spelling.
 */
import type { Node, Value } from "../../ir/index.js";
import { broadcastsTo, splitConstant } from "../../rewrite/match.js";
import { affineOfBatchNorm } from "../fuse/channel-affine.js";
import { combineGrids, type Grid, gridAlong, gridOf, mapGrid } from "./grid.js";

/** Both of the rank of x; null for nothing. */
export interface Affine {
  readonly scale: Grid | null;
  readonly shift: Grid | null;
}

/** A node seen as an affine map of its input `x`. */
export interface AffineNode {
  readonly x: Value;
  readonly affine: Affine;
}

export const affineRoots = ["Mul", "Div", "Add", "Sub", "Neg", "BatchNormalization"] as const;

/** Null for any other node, a reason for one that cannot be read. The result has the shape of x. */
export function affineOf(node: Node, opset: number): AffineNode | string | null {
  if (node.domain !== "") return null;
  if (node.op === "BatchNormalization") return ofBatchNorm(node, opset);
  if (node.op === "Neg") return ofNeg(node);
  if (node.op !== "Mul" && node.op !== "Div" && node.op !== "Add" && node.op !== "Sub") return null;
  const operands = splitConstant(node);
  if (!operands || opset < 7) return null;
  const { constant, other: x, index } = operands;
  if (!x.shape || (constant.shape!.length > 0 && !broadcastsTo(constant, x))) return null;
  const grid = gridOf(constant.constant!, x.shape.length);
  if (!grid || (x.dtype && x.dtype !== constant.dtype)) return null;
  switch (node.op) {
    case "Mul":
      return { x, affine: { scale: grid, shift: null } };
    case "Div":
      return index === 1 ? { x, affine: { scale: mapGrid(grid, (value) => 1 / value), shift: null } } : null;
    case "Add":
      return { x, affine: { scale: null, shift: grid } };
    default:
      return index === 1
        ? { x, affine: { scale: null, shift: mapGrid(grid, (value) => -value) } }
        : { x, affine: { scale: mapGrid(grid, () => -1), shift: grid } };
  }
}

function ofNeg(node: Node): AffineNode | null {
  const x = node.inputs[0];
  if (!x?.shape || (x.dtype !== "f32" && x.dtype !== "f16" && x.dtype !== "f64")) return null;
  return { x, affine: { scale: { dims: x.shape.map(() => 1), data: Float64Array.of(-1) }, shift: null } };
}

function ofBatchNorm(norm: Node, opset: number): AffineNode | string | null {
  const x = norm.inputs[0];
  const channels = norm.inputs[1]?.constant?.dims[0];
  if (!x?.shape || x.shape.length < 2 || channels === undefined) return null;
  const channel = affineOfBatchNorm(norm, opset, channels);
  if (typeof channel === "string") return channel;
  const along = (data: Float64Array | null): Grid | null => data && gridAlong(1, data, x.shape!.length);
  return { x, affine: { scale: along(channel.scale), shift: along(channel.shift) } };
}

/** First `inner`, then `outer`; null where the shapes of their constants do not fit. */
export function compose(outer: Affine, inner: Affine): Affine | null {
  const scale = product(outer.scale, inner.scale);
  const moved = product(inner.shift, outer.scale);
  if (scale === undefined || moved === undefined) return null;
  const shift = inner.shift ? sum(moved, outer.shift) : outer.shift;
  return shift === undefined ? null : { scale, shift };
}

/** Null for nothing, undefined for shapes that do not fit. */
function product(a: Grid | null, b: Grid | null): Grid | null | undefined {
  if (!a || !b) return a ?? b;
  return combineGrids(a, b, (x, y) => x * y) ?? undefined;
}

function sum(a: Grid | null, b: Grid | null): Grid | null | undefined {
  if (!a || !b) return a ?? b;
  return combineGrids(a, b, (x, y) => x + y) ?? undefined;
}
