/** A linear layer of some of its outputs: the sums of their own, and those of its inputs, which all outputs share. */
import { spread } from "../../base/spread.js";
import type { Linear, Moments } from "./moments.js";

/** A ridge that is best for so many outputs is as good for the others. */
const ENOUGH = 96;

/** The same ones of every group, ascending; all where there are few. */
export const someOutputs = ({ outputs }: Moments): readonly number[] => spread(outputs, ENOUGH);

export function momentsOfOutputs(moments: Moments, chosen: readonly number[]): Moments {
  const { groups, inputs, outputs, cross, outputSums, outputSquares } = moments;
  if (chosen.length === outputs) return moments;
  return {
    ...moments,
    outputs: chosen.length,
    cross: rowsOf(cross, inputs, groups, outputs, chosen),
    outputSums: rowsOf(outputSums, 1, groups, outputs, chosen),
    outputSquares: rowsOf(outputSquares, 1, groups, outputs, chosen),
  };
}

export function linearOfOutputs(
  { weights, bias }: Linear,
  { groups, inputs, outputs }: Moments,
  chosen: readonly number[],
): Linear {
  return {
    weights: rowsOf(weights, inputs, groups, outputs, chosen),
    bias: bias && rowsOf(bias, 1, groups, outputs, chosen),
  };
}

/** @param size of the row that each output has in each group */
function rowsOf(
  all: Float64Array,
  size: number,
  groups: number,
  outputs: number,
  chosen: readonly number[],
): Float64Array {
  const rows = new Float64Array(groups * chosen.length * size);
  for (let g = 0; g < groups; g++)
    for (const [i, o] of chosen.entries()) {
      const from = (g * outputs + o) * size;
      rows.set(all.subarray(from, from + size), (g * chosen.length + i) * size);
    }
  return rows;
}
