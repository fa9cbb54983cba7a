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
 * Asked for values in execution order, each question looks only one step back.
 */
export function sizeFacts(): SizeFacts {
  const shapes = new Map<Value, readonly Size[] | null>();
  const vectors = new Map<Value, ShapeVector | null>();
  const numbers = new Map<Value, number>();
  let floors: ReadonlyMap<string, number> | null = null;
  let depth = 0;
  let isCutShort = false;
  let isInOrder = false;

  /** Remembers; where a chain is too long to follow in one go, it is followed from its start. */
  const remembered = <T>(
    memory: Map<Value, T | null>,
    value: MaybeValue,
    find: (value: Value) => T | null,
  ): T | null => {
    if (!value) return null;
    const held = memory.get(value);
    if (held !== undefined) return held;
    isCutShort ||= depth > MAX_DEPTH;
    if (isCutShort) return null;
    depth++;
    memory.set(value, null);
    const found = find(value);
    depth--;
    if (!isCutShort) {
      memory.set(value, found);
      return found;
    }
    memory.delete(value);
    if (depth > 0) return null;
    isCutShort = false;
    if (isInOrder) return null;
    isInOrder = true;
    for (const earlier of behind(value, (each) => shapes.has(each) && vectors.has(each))) {
      facts.shapeOf(earlier);
      facts.vectorOf(earlier);
    }
    const again = remembered(memory, value, find);
    isInOrder = false;
    return again;
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

/** What a value is made of that nothing is known of yet, in execution order. */
function behind(value: Value, isKnown: (value: Value) => boolean): readonly Value[] {
  const [found, order]: [Set<Value>, Value[]] = [new Set(), []];
  const pending = [{ value, isAfterInputs: false }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (next.isAfterInputs) {
      order.push(next.value);
      continue;
    }
    if (found.has(next.value) || isKnown(next.value)) continue;
    found.add(next.value);
    pending.push({ ...next, isAfterInputs: true });
    for (const input of next.value.producer?.inputs ?? [])
      if (input) pending.push({ value: input, isAfterInputs: false });
  }
  return order;
}
