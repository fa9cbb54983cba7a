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

interface Both {
  readonly next: Node;
  readonly nextNs: number;
  readonly one: Move;
}

/** Transposes behind what another one makes: each as one with that, and what it takes by itself. */
function both(output: Value, move: Move): Both[] {
  const found: Both[] = [];
  const { bytes } = move;
  const walk = (value: Value, axes: Permutation, steps: number): void => {
    for (const use of value.uses) {
      if (use.kind !== "input" || use.index !== 0 || use.node.graph !== output.graph || !value.shape) continue;
      const { node } = use;
      const perm = node.is("Transpose") ? permutationOf(node) : null;
      if (perm?.length === axes.length) {
        const next = { dims: value.shape, perm, bytes };
        found.push({ next: node, nextNs: moveNs(next), one: asOne(next, axes) });
      }
      const kept = steps > 0 ? axesBehind(node, axes) : null;
      for (const made of kept ? node.outputs : [])
        if (made?.shape?.length === kept!.length) walk(made, kept!, steps - 1);
    }
  };
  walk(output, move.perm, MOST_STEPS);
  return found;
}

/** Whether a Transpose comes behind what another one makes that makes a slow one of both, and none that takes it away. */
export function becomesSlow(output: Value, move: Move): boolean {
  const behind = both(output, move);
  const isSlow = behind.some(({ one, nextNs }) => savesTime(moveNs(one) - moveNs(move) - nextNs, one.dims));
  return isSlow && !behind.some(({ one: { perm } }) => isIdentity(perm));
}

/** Whether a Transpose that takes so long for an element is less work as one with another, behind it or in front. */
export function becomesLess(transpose: Node, move: Move, ns: number): boolean {
  if (both(transpose.output, move).some(({ one, nextNs }) => moveNs(one) < ns + nextNs)) return true;
  const above = transposeAbove(transpose);
  const [perm, dims] = [above && permutationOf(above), above?.inputs[0]?.shape];
  if (!above || !perm || dims?.length !== perm.length) return false;
  const own = both(above.output, { ...move, dims, perm }).find(({ next }) => next === transpose);
  return own !== undefined && moveNs(own.one) < ns + moveNs({ ...move, dims, perm });
}

function transposeAbove({ inputs }: Node): Node | null {
  let at = inputs[0]?.producer;
  for (let steps = 0; at && !at.is("Transpose"); steps++) {
    const rank = at.inputs[0]?.shape?.length ?? 0;
    if (steps === MOST_STEPS || !axesBehind(at, [...new Array(rank).keys()])) return null;
    at = at.inputs[0]?.producer;
  }
  return at ?? null;
}

/** A Transpose of what has these axes of something that is stored, as one of that. */
function asOne({ dims, perm, bytes }: Move, axes: Permutation): Move {
  const stored = [...axes].sort((a, b) => a - b);
  return {
    dims: stored.map((axis) => dims[axes.indexOf(axis)]!),
    perm: perm.map((axis) => stored.indexOf(axes[axis]!)),
    bytes,
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
