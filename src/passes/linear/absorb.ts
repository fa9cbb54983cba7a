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
import { hasSameShape } from "../../rewrite/match.js";
import {
  again,
  type Deeper,
  type Found,
  intoArithmetic,
  intoBatchNorm,
  intoConstant,
  intoLinear,
  intoNeg,
  type Plan,
} from "./absorb-into.js";
import { type Affine, affineOf, compose } from "./affine.js";
import { type Grid, isUniform, sliceGrid, vectorAlong } from "./grid.js";
import { passageOf } from "./passage.js";

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
