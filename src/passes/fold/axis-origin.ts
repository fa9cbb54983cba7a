/**
 * Where the size of an axis comes from: two axes with one origin have the same size in
 * every run, whatever the runtime's shape inference knows about them.
 */
import type { Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { isKnown } from "../../rewrite/match.js";
import type { ShapeVector } from "./shape-vector.js";

export interface Axis {
  readonly value: Value;
  readonly axis: number;
}

const MAX_DEPTH = 2000;

const keepsShape = new Set(["Cast", "Clip", "Dropout", "LayerNormalization", "LogSoftmax", "Softmax"]);

/** A question with a memory; valid until the graph changes. */
export function axisOrigins(vectorOf: (value: Value) => ShapeVector | null): (axis: Axis) => Axis {
  const known = new Map<Value, Map<number, Axis>>();
  const originOf = (at: Axis, depth: number): Axis => {
    const held = known.get(at.value)?.get(at.axis);
    if (held || depth > MAX_DEPTH) return held ?? at;
    const node = at.value.producer;
    const sources =
      node && node.domain === "" && node.outputs[0] === at.value ? sourcesOf(node, at.axis, vectorOf) : null;
    const [first, ...others] = (sources ?? []).map((source) => originOf(source, depth + 1));
    const agree = first && others.every((other) => other.value === first.value && other.axis === first.axis);
    const origin = agree ? first : at;
    if (!known.has(at.value)) known.set(at.value, new Map());
    known.get(at.value)!.set(at.axis, origin);
    return origin;
  };
  return (axis) => originOf(axis, 0);
}

/** Axes that give output axis `axis` its size if they all have the same; null where no rule knows. */
function sourcesOf(node: Node, axis: number, vectorOf: (value: Value) => ShapeVector | null): Axis[] | null {
  const [a, b] = node.inputs;
  if (!a) return null;
  if (familyOf(node) === "unary" || keepsShape.has(node.op)) return [{ value: a, axis }];
  switch (node.op) {
    case "Add":
    case "Sub":
    case "Mul":
    case "Div":
      return b && !node.attributes.has("axis") ? broadcastSources([a, b], axis) : null;
    case "MatMul":
      return b ? matMulSources(a, b, axis) : null;
    case "Transpose": {
      const from = node.ints("perm")?.[axis];
      return from === undefined ? null : [{ value: a, axis: from }];
    }
    case "Gather": {
      const rank = b?.shape?.length;
      if (!b || rank === undefined || node.int("axis", 0) !== 0) return null;
      return axis < rank ? [{ value: b, axis }] : [{ value: a, axis: axis - rank + 1 }];
    }
    case "Reshape": {
      const element = b && node.int("allowzero", 0) === 0 ? vectorOf(b)?.elements[axis] : null;
      if (element === 0) return [{ value: a, axis }];
      return element && typeof element === "object" ? [{ value: element.of, axis: element.axis }] : null;
    }
    default:
      return null;
  }
}

/** Operands whose size along an output axis is not surely 1; of equal ranks, or shorter with nothing there. */
function broadcastSources(operands: readonly Value[], axis: number): Axis[] | null {
  const ranks = operands.map(({ shape }) => shape?.length);
  if (ranks.some((rank) => rank === undefined)) return null;
  const rank = Math.max(...(ranks as number[]));
  const sources = operands.flatMap((value) => {
    const at = axis - (rank - value.shape!.length);
    return at < 0 || value.shape![at] === 1 ? [] : [{ value, axis: at }];
  });
  return sources.length > 0 ? sources : null;
}

function matMulSources(a: Value, b: Value, axis: number): Axis[] | null {
  const [rank, other] = [a.shape?.length, b.shape?.length];
  if (rank === undefined || other === undefined || rank < 2 || other < 2 || rank < other) return null;
  if (axis === rank - 2) return [{ value: a, axis }];
  if (axis === rank - 1) return [{ value: b, axis: other - 1 }];
  const beside = axis - (rank - other);
  const size = beside < 0 ? 1 : b.shape![beside];
  return isKnown(size) && size === 1
    ? [{ value: a, axis }]
    : [
        { value: a, axis },
        { value: b, axis: beside },
      ];
}
