/** Position of the first NaN or infinity; -1 when there is none. */
export function firstNotFinite(values: Float32Array | Float64Array): number {
  // Zero times anything finite is zero: one sum tells, and sums that do not wait for each other tell sooner.
  const whole = values.length - (values.length % 4);
  let [a, b, c, d] = [0, 0, 0, 0];
  for (let i = 0; i < whole; i += 4) {
    a += values[i]! * 0;
    b += values[i + 1]! * 0;
    c += values[i + 2]! * 0;
    d += values[i + 3]! * 0;
  }
  for (let i = whole; i < values.length; i++) a += values[i]! * 0;
  return a + b + c + d === 0 ? -1 : values.findIndex((value) => !Number.isFinite(value));
}
