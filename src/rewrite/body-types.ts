/**
 * What is true of the inputs of a body whatever the iteration. A file often describes
 * them by what the first iteration sees, and no runtime holds it to that: a state may
 * grow, so nothing but its type is believed.
 */
import type { DType, Node, Shape, TensorType, Value } from "../ir/index.js";

/** Types of the inputs of each body of `node`, by position; null where no rule knows the operator. */
export function bodyInputTypes(node: Node): readonly TensorType[] | null {
  if (node.is("If")) return node.bodies.every(({ inputs }) => inputs.length === 0) ? [] : null;
  if (node.is("Loop")) return loopTypes(node);
  return node.is("Scan") ? scanTypes(node) : null;
}

function loopTypes(node: Node): TensorType[] | null {
  const body = node.bodies[0];
  if (!body || body.inputs.length !== node.inputs.length) return null;
  const types = body.inputs.map((input, i) => {
    const outer = node.inputs[i] ?? null;
    // Number of the iteration and condition: the runtime gives them the shape that the body asks for.
    if (i === 0) return typed("i64", input.type?.shape ?? null);
    if (i === 1) return typed("bool", input.type?.shape ?? null);
    return typed(dtypeOf(outer, input), null);
  });
  return complete(types);
}

function scanTypes(node: Node): TensorType[] | null {
  const shapes = scanShapes(node);
  if (!shapes) return null;
  const body = node.bodies[0]!;
  const states = body.inputs.length - node.int("num_scan_inputs", 0);
  const types = body.inputs.map((input, i) =>
    typed(dtypeOf(node.inputs[i] ?? null, input), i < states ? null : shapes[i]!),
  );
  return complete(types);
}

/** The shapes in which values come into the body of a Scan: states, of which later ones may have others, and elements. */
function scanShapes(node: Node): (Shape | null)[] | null {
  const body = node.bodies[0];
  const scanned = node.int("num_scan_inputs", null);
  if (!body || scanned === null || body.inputs.length !== node.inputs.length) return null;
  const states = body.inputs.length - scanned;
  const axes = node.ints("scan_input_axes");
  return node.inputs.map((value, i) => {
    const shape = value?.shape ?? null;
    return i < states ? shape : withoutAxis(shape, axes?.[i - states] ?? 0);
  });
}

/** An input of the body of a Loop or a Scan, as it is in the first iteration. */
export interface BodyEntry {
  readonly input: Value;
  readonly shape: Shape | null;
  /** Where the body hands it on to the next iteration: the place in its outputs, or null for one that is of this iteration only. */
  readonly next: number | null;
}

/** Inputs of the body of `node` that are values of the graph around it; none where no rule knows the operator. */
export function bodyEntries(node: Node): BodyEntry[] {
  const body = node.bodies[0];
  if (!body || body.inputs.length !== node.inputs.length) return [];
  // Number of the iteration and condition come first in a Loop, and the condition alone where it hands values on.
  if (node.is("Loop"))
    return body.inputs.map((input, i) => ({ input, shape: node.inputs[i]?.shape ?? null, next: i - 1 })).slice(2);
  const shapes = node.is("Scan") ? scanShapes(node) : null;
  if (!shapes) return [];
  const states = body.inputs.length - node.int("num_scan_inputs", 0);
  return body.inputs.map((input, i) => ({ input, shape: shapes[i]!, next: i < states ? i : null }));
}

function withoutAxis(shape: Shape | null, axis: number): Shape | null {
  if (!shape) return null;
  const at = axis < 0 ? axis + shape.length : axis;
  return at >= 0 && at < shape.length ? shape.filter((_, i) => i !== at) : null;
}

/** A value without a type of its own may be a sequence or an optional, which has no element type. */
const dtypeOf = (outer: Value | null, input: Value): DType | null => outer?.dtype ?? input.dtype;

const typed = (dtype: DType | null, shape: Shape | null): TensorType | null => (dtype ? { dtype, shape } : null);

const complete = (types: readonly (TensorType | null)[]): TensorType[] | null =>
  types.every((type) => type !== null) ? [...types] : null;
