/**
 * Integers that a model's inputs are asked about: a sampling rate that is compared with
 * 16000, the rows of a small table. Made-up inputs that know them reach more of the model.
 */
import type { Model, Node, Value } from "../../ir/index.js";
import { constantIntegers } from "../../rewrite/match.js";

/** Operators through which a value goes on as it is. */
const carriers = new Set(["Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"]);
const comparisons = new Set(["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]);
/** Tables of more rows than this take every small integer anyway. */
const SMALL_TABLE = 8;

/** By input name; inputs of which nothing is asked are absent. */
export function meaningfulValues({ graph }: Model): Readonly<Record<string, readonly number[]>> {
  const found: [string, readonly number[]][] = [];
  for (const input of graph.inputs) {
    const values = [...new Set(askedOf(input))];
    if (values.length > 0) found.push([input.label, values]);
  }
  return Object.fromEntries(found);
}

function* askedOf(value: Value): Generator<number> {
  const seen = new Set<Value>([value]);
  for (const at of seen) {
    for (const use of at.uses) {
      if (use.kind !== "input" || use.node.domain !== "") continue;
      const { node, index } = use;
      if (comparisons.has(node.op)) yield* comparedWith(node, index);
      else if (node.op === "Gather" && index === 1) yield* rowsOf(node);
      else if (carriers.has(node.op) && index === 0 && node.outputs[0]) seen.add(node.outputs[0]);
    }
  }
}

/** The number itself and its neighbours: both answers of any comparison. */
function* comparedWith(node: Node, index: number): Generator<number> {
  const number = constantIntegers(node.inputs[1 - index]);
  if (number?.length !== 1) return;
  yield* [number[0]!, number[0]! - 1];
  if (node.op !== "Equal") yield number[0]! + 1;
}

function* rowsOf(gather: Node): Generator<number> {
  const shape = gather.inputs[0]?.shape;
  const axis = gather.int("axis", 0);
  const rows = shape?.[axis < 0 ? axis + shape.length : axis];
  if (typeof rows !== "number" || rows >= SMALL_TABLE) return;
  for (let row = 0; row < rows; row++) yield row;
}
