/**
 * How far a change may move numbers: `exact` keeps every bit, `rounding` keeps the
 * algebra and changes the order of rounding, `lossy` trades precision on purpose.
 */
export type Numerics = "exact" | "rounding" | "lossy";
