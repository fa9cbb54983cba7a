/** Lines as planes of one row: [N,C,L] as [N,C,1,L], by an axis that Unsqueeze puts in and Squeeze takes out. */
import { attr, type Node, type Shape, Tensor, type TensorType, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { givenAxes } from "../../rewrite/match.js";

/** That of the row, counted in the plane. */
export const ROW_AXIS = 2;
const PLANE_RANK = 4;

type Maker = Pick<RewriteContext, "create" | "constant" | "opset">;

/** The plane of one row that a line is taken from; null where it is made in another way. */
export function planeOf(line: Value | null | undefined): Value | null {
  const node = line?.producer;
  const plane = node?.inputs[0];
  return node?.is("Squeeze") && node.graph === line!.graph && plane?.shape?.length === PLANE_RANK && isRowAxis(node)
    ? plane
    : null;
}

export const isUnsqueezedRow = (node: Node): boolean =>
  node.is("Unsqueeze") && node.inputs[0]?.shape?.length === PLANE_RANK - 1 && isRowAxis(node);

function isRowAxis(node: Node): boolean {
  const axes = givenAxes(node);
  return axes?.length === 1 && (axes[0] === ROW_AXIS || axes[0] === ROW_AXIS - PLANE_RANK);
}

/** [N,C,L] => [N,C,1,L] */
export const withRow = (line: Value, maker: Maker): Value =>
  renamed("Unsqueeze", line, planeType(line.dtype, line.shape), maker).output;

/** [N,C,1,L] => [N,C,L], of the type of the line that it is in the place of. What makes the plane keeps its name. */
export function withoutRow(plane: Value, line: Value, maker: Maker): Value {
  const made = plane.producer!;
  const { name } = made;
  const squeeze = renamed("Squeeze", plane, line.type, maker);
  made.name = name;
  squeeze.name = name === "" ? "" : `${line.label}/Squeeze`;
  return squeeze.output;
}

export const planeType = (dtype: TensorType["dtype"], shape: Shape | null): TensorType => ({
  dtype,
  shape: shape && [...shape.slice(0, ROW_AXIS), 1, ...shape.slice(ROW_AXIS)],
});

function renamed(op: string, value: Value, type: TensorType | null, { create, constant, opset }: Maker): Node {
  const types = [type];
  // The axes are an input since opset 13.
  if (opset < 13) return create(op, [value], { axes: attr.ints([ROW_AXIS]) }, { types });
  return create(op, [value, constant(`${value.label}/row`, Tensor.i64([1], [ROW_AXIS]))], {}, { types });
}
