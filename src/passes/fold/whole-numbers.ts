/**
 * Operators on integers and truth values, computed as ONNX Runtime's kernels do: they wrap around. Null for other types and
 * where a kernel would fail; then the runtime is asked.
 */
import { type DType, dtypeOfCode, elementCount, Tensor } from "../../ir/index.js";
import { type Computation, expanded } from "./moved-elements.js";

/** More than shapes and masks of constants have. */
const MOST_ELEMENTS = 1 << 16;

export const arithmetic: Readonly<Record<string, Computation>> = {
  Add: combining(null, (a, b) => a + b),
  Sub: combining(null, (a, b) => a - b),
  Mul: combining(null, (a, b) => a * b),
  // Of zero the kernel has no quotient.
  Div: combining(null, (a, b) => (b === 0n ? null : a / b)),
  Equal: combining("bool", (a, b) => truth(a === b)),
  Less: combining("bool", (a, b) => truth(a < b)),
  LessOrEqual: combining("bool", (a, b) => truth(a <= b)),
  Greater: combining("bool", (a, b) => truth(a > b)),
  GreaterOrEqual: combining("bool", (a, b) => truth(a >= b)),
  And: combining("bool", (a, b) => a & b, "bool"),
  Or: combining("bool", (a, b) => a | b, "bool"),
  Not: (_, [data]) =>
    data?.dtype === "bool"
      ? ofBigints(
          "bool",
          data.dims,
          data.bigints()!.map((a) => 1n - a),
        )
      : null,

  Cast(node, [data]) {
    const dtype = dtypeOfCode(node.int("to", 0));
    if (!data || !dtype) return null;
    if (data.dtype === dtype) return data;
    const values = data.elementCount <= MOST_ELEMENTS && isWhole(data) ? data.bigints() : null;
    if (!values) return null;
    if (dtype === "bool")
      return ofBigints(
        dtype,
        data.dims,
        values.map((value) => truth(value !== 0n)),
      );
    if (dtype === "i64" || dtype === "i32") return ofBigints(dtype, data.dims, values);
    const isExact = values.every((value) => Number.isSafeInteger(Number(value)));
    return dtype === "f32" && isExact ? Tensor.f32(data.dims, values.map(Number)) : null;
  },

  Range(_, [start, limit, delta]) {
    if (!start || !limit || !delta || !isCounted(start.dtype) || elementCount([...start.dims, ...limit.dims]) !== 1)
      return null;
    const [from, to, step] = [start, limit, delta].map((each) => each.integers()?.[0]);
    if (from === undefined || to === undefined || !step) return null;
    const count = Math.max(0, Math.ceil((to - from) / step));
    if (count > MOST_ELEMENTS) return null;
    return ofBigints(
      start.dtype,
      [count],
      Array.from({ length: count }, (__, i) => BigInt(from + i * step)),
    );
  },
};

const truth = (is: boolean): bigint => (is ? 1n : 0n);

/** Of the types in which shapes are computed. */
const isCounted = (dtype: DType): boolean => dtype === "i64" || dtype === "i32";
const isWhole = ({ dtype }: Tensor): boolean => isCounted(dtype) || dtype === "bool";

/** Two operands of one type, broadcast; null of one pair of elements is null of all. */
function combining(
  result: "bool" | null,
  combine: (a: bigint, b: bigint) => bigint | null,
  operand: "bool" | null = null,
): Computation {
  return (_, [left, right]) => {
    if (!left || !right || left.dtype !== right.dtype) return null;
    if (operand === null ? !isCounted(left.dtype) : left.dtype !== operand) return null;
    const [a, b] = [expanded(left, right.dims), expanded(right, left.dims)];
    if (!a || !b || a.elementCount > MOST_ELEMENTS) return null;
    const others = b.bigints()!;
    const values = a.bigints()!.map((value, i) => combine(value, others[i]!));
    return values.every((value) => value !== null) ? ofBigints(result ?? left.dtype, a.dims, values) : null;
  };
}

function ofBigints(dtype: DType, dims: readonly number[], values: readonly bigint[]): Tensor {
  if (dtype === "i64") return Tensor.i64(dims, values);
  const numbers = values.map((value) => Number(BigInt.asIntN(32, value)));
  return Tensor.ofArray(dtype, dims, dtype === "i32" ? Int32Array.from(numbers) : Uint8Array.from(numbers));
}
