/** Writes nodes that make one tensor of rows of another. */
import { type Attribute, attr, type Shape, Tensor, type Value } from "../../ir/index.js";
import type { PickedRows } from "./picked-row.js";

/** Makes nodes of one output. */
export interface RowMaker {
  readonly constant: (label: string, tensor: Tensor) => Value;
  readonly create: (
    op: string,
    inputs: readonly Value[],
    attributes: Readonly<Record<string, Attribute>>,
    shape: Shape,
  ) => Value;
}

/** A tensor that has these rows along the axis. The shape of `rows` must be known as far as its number of axes. */
export function takeRows({ rows, axis, places }: PickedRows, { constant, create }: RowMaker): Value {
  const shape = rows.shape!;
  const [first, count] = [places[0]!, places.length];
  const integers = (label: string, values: readonly number[]): Value =>
    constant(label, Tensor.i64([values.length], values));
  const taken = shape.with(axis, count);
  if (places.some((place, at) => place !== first + at))
    return create("Gather", [rows, integers("places", places)], { axis: attr.int(axis) }, taken);
  if (first === 0 && shape[axis] === count) return rows;
  const bounds = [integers("starts", [first]), integers("ends", [first + count]), integers("axes", [axis])];
  return create("Slice", [rows, ...bounds], {}, taken);
}

/** With the first two of three axes the other way around. */
export function exchangeRows(rows: Value, { create }: RowMaker): Value {
  const [first = null, second = null, third = null] = rows.shape ?? [];
  return create("Transpose", [rows], { perm: attr.ints([1, 0, 2]) }, [second, first, third]);
}
