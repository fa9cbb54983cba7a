/** Moments of rows that a test makes up. */
import type { Linear, Moments } from "../../../src/pruning/refit/moments.js";

export interface Rows {
  readonly groups: number;
  readonly inputs: number;
  readonly outputs: number;
  /** [rows][groups * inputs] and [rows][groups * outputs]. */
  readonly x: readonly (readonly number[])[];
  readonly y: readonly (readonly number[])[];
}

export function momentsFrom({ groups, inputs, outputs, x, y }: Rows): Moments {
  const gram = new Float64Array(groups * inputs * inputs);
  const cross = new Float64Array(groups * outputs * inputs);
  const inputSums = new Float64Array(groups * inputs);
  const outputSums = new Float64Array(groups * outputs);
  const outputSquares = new Float64Array(groups * outputs);
  x.forEach((row, r) => {
    const made = y[r]!;
    for (let g = 0; g < groups; g++) {
      for (let i = 0; i < inputs; i++) {
        const value = row[g * inputs + i]!;
        inputSums[g * inputs + i]! += value;
        for (let j = 0; j < inputs; j++) gram[(g * inputs + i) * inputs + j]! += value * row[g * inputs + j]!;
        for (let o = 0; o < outputs; o++) cross[(g * outputs + o) * inputs + i]! += value * made[g * outputs + o]!;
      }
      for (let o = g * outputs; o < (g + 1) * outputs; o++) {
        outputSums[o]! += made[o]!;
        outputSquares[o]! += made[o]! ** 2;
      }
    }
  });
  return { groups, inputs, outputs, rows: x.length, gram, cross, inputSums, outputSums, outputSquares };
}

/** What a layer makes of a row. */
export function madeOf(
  { weights, bias }: Linear,
  { groups, inputs, outputs }: Omit<Rows, "x" | "y">,
  row: readonly number[],
): number[] {
  return Array.from({ length: groups * outputs }, (_, o) => {
    const g = Math.floor(o / outputs);
    let sum = bias?.[o] ?? 0;
    for (let i = 0; i < inputs; i++) sum += weights[o * inputs + i]! * row[g * inputs + i]!;
    return sum;
  });
}
