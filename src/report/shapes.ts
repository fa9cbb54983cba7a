/** Which sizes of inputs and outputs `--shape` settled. */
import type { RunResult, ShapeFacts } from "../pipeline/result.js";

export interface ShapeRow {
  readonly port: string;
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export const shapeRows = ({ shapes = [] }: RunResult): readonly ShapeRow[] =>
  shapes.map(({ port, name, before, after }) => ({ port, name, before: shapeText(before), after: shapeText(after) }));

/** [N,3,224,224]; a dimension that nobody knows is "?". */
export const shapeText = (shape: ShapeFacts["before"]): string =>
  shape === null ? "[...]" : `[${shape.map((dim) => dim ?? "?").join(",")}]`;
