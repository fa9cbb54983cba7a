import { invariant } from "../base/errors.js";
import { attr, type Model, opsetOf, Tensor, type Value } from "../ir/index.js";

/**
 * Makes values graph outputs, so that a run shows them. Changes the model given,
 * which should be a copy. Returns the output's name by value label; labels must be
 * unique (see names.ts). Values that are outputs already keep their name.
 */
export function tapValues(model: Model, values: readonly Value[]): ReadonlyMap<string, string> {
  const taps = new Map<string, string>();
  const ports = new Map(model.graph.outputs.map(({ name, value }) => [value, name]));
  for (const value of values) {
    invariant(value.graph === model.graph, `${value.label} lies in a body and cannot be tapped`);
    const known = ports.get(value);
    if (!known) model.graph.addOutput(value.label, value);
    taps.set(value.label, known ?? value.label);
  }
  return taps;
}

/** Drops every output that is not wanted, so that a tapped run computes and returns nothing else. */
export function keepOutputs(model: Model, wanted: ReadonlySet<string>): void {
  for (const { name } of model.graph.outputs) if (!wanted.has(name)) model.graph.removeOutput(name);
}

/** Adds a ReduceMin or its like over some axes, which are left out. They became an input with opset 18. */
export function reduceOver(model: Model, op: string, of: Value, axes: readonly number[], label: string): Value {
  const { graph } = model;
  const isInput = opsetOf(model) >= 18;
  const inputs = isInput ? [of, graph.addConstant(`${label}/axes`, Tensor.i64([axes.length], axes))] : [of];
  const attributes = { keepdims: attr.int(0), ...(!isInput && { axes: attr.ints(axes) }) };
  return graph.addNode({ op, name: label, inputs, attributes, outputs: [{ label }] }).output;
}
