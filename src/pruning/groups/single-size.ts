/**
 * Whether a size that type inference leaves open is 1: masks come out of sizes that are computed in the run, and
 * what they are combined with by broadcasting keeps its units only where the mask has one size for all of them.
 */
import { fromFront, type Node, type Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { givenAxes } from "../../rewrite/match.js";
import { sizeIn } from "../slice/size-vector.js";

/** A proof goes through this many nodes at most. */
const DEEPEST = 16;

export function isSingle(value: Value, axis: number, depth = 0): boolean {
  const { shape, producer } = value;
  if (!shape || axis < 0 || axis >= shape.length) return false;
  if (shape[axis] !== null) return shape[axis] === 1;
  if (!producer || producer.graph !== value.graph || producer.domain !== "" || depth >= DEEPEST) return false;
  const read = (input: number, at: number | null): boolean => {
    const from = producer.inputs[input];
    return !!from && at !== null && isSingle(from, at, depth + 1);
  };
  switch (producer.op) {
    case "Reshape":
      return sizeIn(producer.inputs[1], axis) === 1;
    case "Expand":
      return (
        expands(producer, axis, shape.length) &&
        (missing(producer, 0, axis, shape.length) || read(0, aligned(producer, 0, axis, shape.length)))
      );
    case "Unsqueeze":
      return unsqueezes(producer, axis, shape.length, read);
    case "Transpose":
      return read(0, producer.ints("perm")?.[axis] ?? null);
    case "Concat":
      return producer.int("axis", 0) !== axis && producer.int("axis", 0) !== axis - shape.length && read(0, axis);
    case "GatherND": {
      const rank = producer.inputs[1]?.shape?.length;
      return rank !== undefined && producer.int("batch_dims", 0) === 0 && axis < rank - 1 && read(1, axis);
    }
    case "Gather": {
      const places = producer.inputs[1]?.shape?.length;
      const at = producer.int("axis", 0);
      return places !== undefined && at >= 0 && axis >= at && axis < at + places && read(1, axis - at);
    }
    case "Cast":
      return read(0, axis);
  }
  const family = familyOf(producer);
  if (family === "unary") return read(0, axis);
  return (
    family === "broadcasting" &&
    producer.inputs.every(
      (_, input) =>
        missing(producer, input, axis, shape.length) || read(input, aligned(producer, input, axis, shape.length)),
    )
  );
}

/** The axis of an input that lies at an axis of the result. */
function aligned(node: Node, input: number, axis: number, rank: number): number | null {
  const own = node.inputs[input]?.shape?.length;
  return own === undefined ? null : axis - (rank - own);
}

const missing = (node: Node, input: number, axis: number, rank: number): boolean =>
  (aligned(node, input, axis, rank) ?? 0) < 0;

/** Whether the shape that an Expand is told leaves the size at an axis as it is. */
function expands(node: Node, axis: number, rank: number): boolean {
  const length = node.inputs[1]?.shape?.[0];
  if (typeof length !== "number") return false;
  const entry = axis - (rank - length);
  return entry < 0 || sizeIn(node.inputs[1], entry) === 1;
}

function unsqueezes(node: Node, axis: number, rank: number, read: (input: number, at: number) => boolean): boolean {
  const axes = givenAxes(node)?.map((each) => fromFront(each, rank));
  if (!axes) return false;
  return axes.includes(axis) || read(0, axis - axes.filter((each) => each < axis).length);
}
