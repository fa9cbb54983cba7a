import type { OutputLine } from "../../src/quantization/outputs/output-line.js";

/** A factor and a shift alone. */
export const line = (factor: number, shift: readonly number[]): OutputLine => ({
  ...{ factor, shift: Float64Array.from(shift), directions: null, along: null },
  mean: new Float64Array(shift.length),
});
