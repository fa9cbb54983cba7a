/** Sizes that the runtime does not infer, though nothing about them is open: computed by nodes, they show when the model runs. */
import { elementCount, Graph, isStatic, type Model, packedBytes, Tensor, type Value } from "../../ir/index.js";
import { copyConstant, copyNode, type Evaluate } from "../../rewrite/index.js";

/** Writes them on the values of the main graph. All inputs have known sizes; they are fed zeros. */
export async function completeSizes(model: Model, evaluate: Evaluate): Promise<void> {
  const open = [...model.graph.nodes()].flatMap(({ outputs }) =>
    outputs.filter((value): value is Value => value?.dtype === "f32" && !isStatic(value.shape)),
  );
  if (open.length === 0) return;
  const graph = new Graph();
  const values = new Map<Value, Value>();
  for (const input of model.graph.inputs) values.set(input, graph.addConstant(input.label, zerosOf(input)));
  for (const constant of model.graph.constants) values.set(constant, copyConstant(constant, graph));
  for (const node of model.graph.nodes()) copyNode(node, graph, values);
  open.forEach((value, i) => {
    const label = `sizes_${i}`;
    const node = graph.addNode({
      op: "Shape",
      inputs: [values.get(value)!],
      outputs: [{ label }],
    });
    graph.addOutput(label, node.output);
  });
  const found = await evaluate({ ...model, graph });
  open.forEach((value, i) => {
    const shape = found.get(`sizes_${i}`)?.integers();
    if (shape) value.type = { dtype: "f32", shape };
  });
}

function zerosOf({ label, dtype, shape }: Value): Tensor {
  if (dtype === null || dtype === "string" || !isStatic(shape))
    throw new Error(`internal: ${label} has no known sizes`);
  return Tensor.fromBytes(dtype, shape, new Uint8Array(packedBytes(dtype, elementCount(shape))));
}
