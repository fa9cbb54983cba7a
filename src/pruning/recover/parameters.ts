/** Which constants of a model are weights that can be learned. */
import type { Graph, Use, Value } from "../../ir/index.js";

/** Inputs that are weights where they are constants. */
const weightInputs: Readonly<Record<string, readonly number[]>> = {
  Conv: [1, 2],
  ConvTranspose: [1, 2],
  Gemm: [1, 2],
  MatMul: [0, 1],
  Add: [0, 1],
  PRelu: [1],
  LayerNormalization: [1, 2],
  RMSNormalization: [1],
  InstanceNormalization: [1, 2],
  BatchNormalization: [1, 2],
};

/** Float32 constants of the main graph that nothing reads but as a weight. Single numbers are left: most are part of a formula. */
export const parametersOf = (graph: Graph): readonly Value[] =>
  graph.constants.filter(
    ({ constant, uses }) =>
      constant?.dtype === "f32" &&
      constant.elementCount > 1 &&
      uses.length > 0 &&
      uses.every((use) => isWeight(use, graph)),
  );

const isWeight = (use: Use, graph: Graph): boolean =>
  use.kind === "input" &&
  use.node.graph === graph &&
  use.node.domain === "" &&
  (weightInputs[use.node.op] ?? []).includes(use.index);
