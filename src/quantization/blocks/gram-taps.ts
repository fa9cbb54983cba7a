/**
 * Makes a copy of a model tell which of a product's inputs come together, and nothing else:
 *
 *   gram = Transpose(r) r     r = Reshape(x, [-1, channels])
 *
 * Its size does not depend on the sample, so samples add up.
 */
import { attr, type Model, Tensor, type Value } from "../../ir/index.js";
import { keepOutputs } from "../../rewrite/tap-model.js";
import type { Reduction } from "../../runtime/port.js";

/** @param channels the last axis of each activation. Returns names of outputs, all sums, by value label. */
export function tapGrams(model: Model, channels: ReadonlyMap<Value, number>): ReadonlyMap<string, string> {
  const { graph } = model;
  const names = new Map<string, string>();
  for (const [value, count] of channels) {
    const name = `${value.label}/gram`;
    const add = (op: string, inputs: Value[], attributes = {}): Value => {
      const label = `${name}/${op}`;
      return graph.addNode({ op, name: label, inputs, attributes, outputs: [{ label }] }).output;
    };
    const shape = graph.addConstant(`${name}/shape`, Tensor.i64([2], [-1, count]));
    const rows = add("Reshape", [value, shape]);
    const turned = add("Transpose", [rows], { perm: attr.ints([1, 0]) });
    graph.addOutput(name, add("MatMul", [turned, rows]));
    names.set(value.label, name);
  }
  keepOutputs(model, new Set(names.values()));
  return names;
}

/** How the outputs of `tapGrams` become one over samples. */
export const gramReductions = (names: ReadonlyMap<string, string>): ReadonlyMap<string, Reduction> =>
  new Map([...names.values()].map((name) => [name, "sum"]));
