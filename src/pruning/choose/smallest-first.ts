/** The order in which units go where nothing is known of those who read them: least weight of those who make them first. */
import { elementCount } from "../../ir/index.js";
import type { ChannelGroup, GroupMember } from "../groups/channel-group.js";
import type { Removal } from "./removal-order.js";

export function smallestFirst(group: ChannelGroup): Removal {
  const squares = new Float64Array(group.width);
  for (const producer of group.producers) addSquares(producer, squares);
  const order = Int32Array.from({ length: group.width }, (_, unit) => unit).sort(
    (a, b) => squares[a]! - squares[b]! || a - b,
  );
  const total = squares.reduce((a, b) => a + b, 0);
  const errors = new Float64Array(group.width);
  for (let n = 1; n < group.width; n++)
    errors[n] = errors[n - 1]! + (total > 0 ? squares[order[n - 1]!]! / total : 1 / group.width);
  return { order, errors };
}

function addSquares({ node, input, axis, units }: GroupMember, squares: Float64Array): void {
  const tensor = node.inputs[input]?.constant;
  const values = tensor?.toF32();
  if (!tensor || !values) return;
  const inner = elementCount(tensor.dims.slice(axis + 1));
  const size = tensor.dims[axis]!;
  values.forEach((value, at) => {
    const unit = units[Math.floor(at / inner) % size]!;
    if (unit >= 0) squares[unit]! += value * value;
  });
}
