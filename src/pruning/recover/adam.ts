/**
 * One step of Adam (Kingma and Ba 2015, algorithm 1) as nodes:
 *
 *   m' = b1 m + (1 - b1) g     v' = b2 v + (1 - b2) g^2     w' = w - rate m' / (sqrt(v') + eps)
 *
 * `rate` comes with each step and holds the corrections of the first steps (`adamRate`).
 */
import type { Value } from "../../ir/index.js";
import type { Formula } from "./formula.js";

const [B1, B2, EPSILON] = [0.9, 0.999, 1e-8];

/** The learning rate of step `t` (from 1 on) with the bias of both means taken out. */
export const adamRate = (rate: number, t: number): number => (rate * Math.sqrt(1 - B2 ** t)) / (1 - B1 ** t);

export interface Moments {
  readonly weight: Value;
  readonly first: Value;
  readonly second: Value;
}

export function adamStep(f: Formula, { weight, first, second }: Moments, gradient: Value, rate: Value): Moments {
  const m = f.add(f.times(first, B1), f.times(gradient, 1 - B1));
  const v = f.add(f.times(second, B2), f.times(f.square(gradient), 1 - B2));
  const step = f.div(f.mul(rate, m), f.add(f.op("Sqrt", [v]), f.scalar(EPSILON)));
  return { weight: f.sub(weight, step), first: m, second: v };
}
