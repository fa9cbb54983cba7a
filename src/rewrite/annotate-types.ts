/**
 * Types and shapes as the runtime infers them. A probe model has every value of the
 * main graph as an output and no weights (large constants stand in as inputs of the
 * same type and shape, so it stays small whatever the file weighs); the runtime says
 * what it makes of it. Its word is taken over what the file says about values inside
 * the graph, since hand-edited models often say something stale there. Values in
 * bodies keep what the file says.
 */
import { InferOptError } from "../base/errors.js";
import { type DType, Graph, type Model, type Shape, type Tensor, type TensorType, type Value } from "../ir/index.js";
import { copyConstant, copyNode } from "./copy-nodes.js";

export interface DescribedPort {
  readonly name: string;
  readonly dtype: DType | null;
  readonly shape: Shape | null;
}

/** Loads a model without optimizing it and says what comes out. Rejects when it does not load. */
export type Describe = (model: Model) => Promise<{ readonly outputs: readonly DescribedPort[] }>;

export interface Annotation {
  /** Values of the main graph that the runtime knew something about. */
  readonly known: number;
  /** Why the probe failed; null when it did not. Passes then know less and decline more. */
  readonly problem: string | null;
}

/** Constants above this many bytes stand in as inputs. Shape vectors, axes and scales stay: inference reads them. */
const LARGE_BYTES = 1024;

/** Writes dtype and shape on the values of the main graph. Never fails over a model that the runtime refuses. */
export async function annotateTypes(model: Model, describe: Describe): Promise<Annotation> {
  const { probe, tapped } = probeOf(model);
  let outputs: readonly DescribedPort[];
  try {
    ({ outputs } = await describe(probe));
  } catch (thrown) {
    if (!(thrown instanceof InferOptError) || thrown.kind === "interrupted") throw thrown;
    return { known: 0, problem: thrown.message };
  }
  const ports = new Set(model.graph.outputs.map(({ value }) => value));
  let known = 0;
  for (const { name, dtype, shape } of outputs) {
    const value = tapped.get(name);
    if (!value || (dtype === null && shape === null)) continue;
    known++;
    value.type = annotated(value.type, dtype, shape, ports.has(value));
  }
  return { known, problem: null };
}

/** What the model declares about its outputs is public and stays; it is only completed. */
function annotated(old: TensorType | null, dtype: DType | null, shape: Shape | null, isPort: boolean): TensorType {
  const oldShape = old?.shape ?? null;
  if (isPort && oldShape) return { dtype: old?.dtype ?? dtype, shape: oldShape };
  // The binding cannot tell a scalar from a tensor of unknown rank.
  if (!shape || shape.length === 0) return { dtype: dtype ?? old?.dtype ?? null, shape: oldShape };
  const filled = shape.map((dim, axis) => {
    const before = oldShape?.length === shape.length ? oldShape[axis]! : null;
    // A number from the file where the runtime sees none may be stale: only names are taken over.
    return dim ?? (typeof before === "string" ? before : null);
  });
  return { dtype: dtype ?? old?.dtype ?? null, shape: filled };
}

interface Probe {
  readonly probe: Model;
  /** The value behind each output of the probe. */
  readonly tapped: ReadonlyMap<string, Value>;
}

function probeOf(model: Model): Probe {
  const graph = new Graph();
  const values = new Map<Value, Value>();
  for (const input of model.graph.inputs) {
    const twin = graph.addInput(input.label, input.type);
    twin.info = input.info;
    values.set(input, twin);
  }
  for (const constant of model.graph.constants) {
    const tensor = constant.constant;
    const isStandIn = tensor !== null && tensor.byteLength > LARGE_BYTES && tensor.dtype !== "string";
    const twin = isStandIn ? graph.addInput(constant.label, typeOf(tensor)) : copyConstant(constant, graph);
    values.set(constant, twin);
  }
  const tapped = new Map<string, Value>();
  for (const node of model.graph.nodes()) {
    copyNode(node, graph, values);
    for (const output of node.outputs) {
      if (!output) continue;
      const name = `probe_${tapped.size}`;
      graph.addOutput(name, values.get(output)!);
      tapped.set(name, output);
    }
  }
  return { probe: { ...model, graph }, tapped };
}

const typeOf = (tensor: Tensor): TensorType => ({ dtype: tensor.dtype, shape: tensor.dims });
