/**
 * What is known about shapes: the size of each axis as an expression over the sizes that
 * the model leaves open, whatever the runtime's shape inference says about it.
 */
import type { Dim, Value } from "../../ir/index.js";
import { isSameDim } from "../../rewrite/match.js";
import { type ShapeVector, vectorByRule, vectorOfConstant } from "./shape-vector.js";
import { atom, named, type Size } from "./size.js";
import { type PartialShape, type SizeFacts, shapeByRule } from "./size-rules.js";
import { windowFloors } from "./window-floors.js";

type MaybeValue = Value | null | undefined;

/**
 * Facts with a memory. A graph may be edited as long as its values keep what they are.
 * Ask for values in execution order: each question then looks only one step back.
 */
export function sizeFacts(): SizeFacts {
  const shapes = new Map<Value, readonly Size[] | null>();
  const vectors = new Map<Value, ShapeVector | null>();
  const numbers = new Map<Value, number>();
  let floors: ReadonlyMap<string, number> | null = null;
  let depth = 0;

  /** Remembers, and stops where a chain is too long to follow in one go. */
  const remembered = <T>(
    memory: Map<Value, T | null>,
    value: MaybeValue,
    find: (value: Value) => T | null,
  ): T | null => {
    if (!value) return null;
    const held = memory.get(value);
    if (held !== undefined) return held;
    if (depth > MAX_DEPTH) return null;
    depth++;
    memory.set(value, null);
    const found = find(value);
    memory.set(value, found);
    depth--;
    return found;
  };

  const nameOf = (value: Value): number => {
    if (!numbers.has(value)) numbers.set(value, numbers.size);
    return numbers.get(value)!;
  };
  const sizeOf = (value: Value, axis: number, dim: Dim, ruled: Size | null): Size => {
    if (typeof dim === "number") return dim;
    if (ruled !== null) return ruled;
    // A name stands for one size wherever it occurs, unless it is one for all that is not known.
    return dim !== null && isSameDim(dim, dim) ? named(dim) : atom(`#${nameOf(value)}.${axis}`);
  };

  const facts: SizeFacts = {
    shapeOf: (asked) =>
      remembered(shapes, asked, (value) => {
        const known = value.shape;
        const { producer } = value;
        const ruled: PartialShape | null =
          producer && !value.constant ? shapeByRule(producer, producer.outputs.indexOf(value), facts) : null;
        if (known && ruled && known.length !== ruled.length) return null;
        const rank = known?.length ?? ruled?.length;
        if (rank === undefined) return null;
        return Array.from({ length: rank }, (_, axis) =>
          sizeOf(value, axis, known?.[axis] ?? null, ruled?.[axis] ?? null),
        );
      }),
    vectorOf: (asked) =>
      remembered(vectors, asked, (value) => {
        if (value.constant) return vectorOfConstant(value);
        const { producer } = value;
        return producer && vectorByRule(producer, producer.outputs.indexOf(value), facts);
      }),
    floorsFor: (node) => {
      floors ??= windowFloors(node.graph);
      return floors;
    },
  };
  return facts;
}

const MAX_DEPTH = 300;
