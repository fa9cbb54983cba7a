/**
 * What ONNX Runtime's optimizer makes of a Transpose behind which others come: it moves it behind what stands between, and makes
 * one of both, also where that is slow (transpose-steps.ts). It moves none past a Reshape.
 */
import type { Node, Value } from "../../ir/index.js";
import { isPointwise } from "../../ops/facts.js";
import { givenAxes, normalizeAxes } from "../../rewrite/match.js";
import { isIdentity, type Permutation, permutationOf } from "./permutation.js";
import { type Move, moveNs, savesTime } from "./transpose-steps.js";

/** Operators that the runtime's optimizer moves a Transpose past, so many at most. */
const MOST_STEPS = 6;

/** Whether a Transpose comes behind what another one makes that makes a slow one of both, and none that takes it away. */
export function becomesSlow(output: Value, move: Move): boolean {
  const both: { readonly move: Move; readonly apartNs: number }[] = [];
  const walk = (value: Value, axes: Permutation, steps: number): void => {
    for (const use of value.uses) {
      if (use.kind !== "input" || use.index !== 0 || use.node.graph !== output.graph || !value.shape) continue;
      const { node } = use;
      const perm = node.is("Transpose") ? permutationOf(node) : null;
      if (perm?.length === axes.length) {
        const then = { dims: value.shape, perm };
        both.push({ move: asOne(then, axes), apartNs: moveNs(move) + moveNs(then) });
      }
      const kept = steps > 0 ? axesBehind(node, axes) : null;
      for (const made of kept ? node.outputs : [])
        if (made?.shape?.length === kept!.length) walk(made, kept!, steps - 1);
    }
  };
  walk(output, move.perm, MOST_STEPS);
  const isSlow = both.some(({ move: one, apartNs }) => savesTime(moveNs(one) - apartNs, one.dims));
  return isSlow && !both.some(({ move: { perm } }) => isIdentity(perm));
}

/** A Transpose of what has these axes of something that is stored, as one of that. */
function asOne({ dims, perm }: Move, axes: Permutation): Move {
  const stored = [...axes].sort((a, b) => a - b);
  return {
    dims: stored.map((axis) => dims[axes.indexOf(axis)]!),
    perm: perm.map((axis) => stored.indexOf(axes[axis]!)),
  };
}

/** Axes that are left of those of the first input; null for what a Transpose is not moved past. */
function axesBehind(node: Node, axes: Permutation): Permutation | null {
  if (node.is("Split") || isPointwise(node) || isScaled(node)) return axes;
  const given = node.is("Squeeze") ? givenAxes(node) : null;
  const dropped = given && normalizeAxes(given, axes.length);
  return dropped ? axes.filter((_, axis) => !dropped.includes(axis)) : null;
}

const isScaled = ({ domain, op, inputs }: Node): boolean =>
  domain === "" && /^(Add|Div|Mul|Sub)$/.test(op) && inputs[1]?.constant?.elementCount === 1;
