/**
 * Where the readers of a value stop telling its elements apart: HardSwish is 0 below -3,
 * Relu below 0, Clip outside its bounds. Integers spent beyond are wasted, and saturating
 * there costs nothing.
 */
import type { Node, Value } from "../ir/index.js";
import { clampTap, type TapStatistics } from "../observe/index.js";

export interface EffectiveRange {
  /** At most 0; -Infinity for no bound. */
  readonly low: number;
  /** At least 0. */
  readonly high: number;
}

const everything: EffectiveRange = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };

/** The smallest range holding 0 outside of which no reader sees a difference. */
export function effectiveRange(value: Value): EffectiveRange {
  let low = 0;
  let high = 0;
  for (const use of value.uses) {
    const seen = use.kind === "input" ? seenBy(use.node, value) : everything;
    low = Math.min(low, seen.low);
    high = Math.max(high, seen.high);
  }
  return value.useCount === 0 ? everything : { low, high };
}

function seenBy(node: Node, value: Value): EffectiveRange {
  if (node.domain !== "" || node.inputs[0] !== value) return everything;
  switch (node.op) {
    case "Relu":
      return { low: 0, high: Number.POSITIVE_INFINITY };
    case "HardSwish": // x * max(0, min(1, x / 6 + 1 / 2))
      return { low: -3, high: Number.POSITIVE_INFINITY };
    case "HardSigmoid": {
      const alpha = node.float("alpha", 0.2);
      const beta = node.float("beta", 0.5);
      return alpha > 0 ? { low: -beta / alpha, high: (1 - beta) / alpha } : everything;
    }
    case "Clip": {
      const [, min, max] = node.inputs;
      return { low: bound(min, Number.NEGATIVE_INFINITY), high: bound(max, Number.POSITIVE_INFINITY) };
    }
    default:
      return everything;
  }
}

/** A constant bound; none when it is absent or computed. */
function bound(value: Value | null | undefined, none: number): number {
  if (!value) return none;
  return value.constant?.toF32()?.[0] ?? none;
}

/** What was observed of a value as far as its readers tell its elements apart: what its range is taken from. */
export function effectiveTap(value: Value, tap: TapStatistics): TapStatistics {
  const { low, high } = effectiveRange(value);
  return clampTap(tap, low, high);
}
