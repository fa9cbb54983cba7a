/**
 * Types and shapes as the runtime infers them. A probe model has every value of the
 * model as an output and no weights (large constants stand in as inputs of the
 * same type and shape, so it stays small whatever the file weighs); the runtime says
 * what it makes of it. Its word is taken over what the file says about values inside
 * the graph, since hand-edited models often say something stale there.
 *
 * Bodies are laid out flat in the same probe, behind a copy of the node that owns them:
 * nothing of it is ever run, so one question answers for all branches.
 */
import { InferOptError } from "../base/errors.js";
import { type DType, Graph, type Model, type Shape, type Tensor, type TensorType, type Value } from "../ir/index.js";
import { bodyInputTypes } from "./body-types.js";
import { copyConstant, copyNode } from "./copy-nodes.js";

export interface DescribedPort {
  readonly name: string;
  readonly dtype: DType | null;
  readonly shape: Shape | null;
}

/** Loads a model without optimizing it and says what comes out. Rejects when it does not load. */
export type Describe = (model: Model) => Promise<{ readonly outputs: readonly DescribedPort[] }>;

export interface Annotation {
  /** Values that the runtime knew something about. */
  readonly known: number;
  /** Why the probe failed; null when it did not. Passes then know less and decline more. */
  readonly problem: string | null;
}

export interface AnnotateOptions {
  /** Types were written before and rewrites added to them: what the runtime does not know stays. */
  readonly isRepeated?: boolean;
}

/** Constants above this many bytes stand in as inputs. Shape vectors, axes and scales stay: inference reads them. */
const LARGE_BYTES = 1024;

/** Writes dtype and shape on the values of the model. Never fails over a model that the runtime refuses. */
export async function annotateTypes(
  model: Model,
  describe: Describe,
  { isRepeated = false }: AnnotateOptions = {},
): Promise<Annotation> {
  const ask = async (probe: Probe): Promise<Annotation> => {
    const { outputs } = await describe(probe.probe);
    return { known: write(model, probe, outputs, isRepeated), problem: null };
  };
  try {
    const whole = probeOf(model, true);
    if (!whole.hasBodies) return await ask(whole);
    // A body that cannot be read on its own must not cost the rest.
    return await ask(whole).catch((thrown) => {
      refusalOf(thrown);
      return ask(probeOf(model, false));
    });
  } catch (thrown) {
    return { known: 0, problem: refusalOf(thrown) };
  }
}

/** What the runtime has against a probe. Everything else that was thrown goes on as it is. */
function refusalOf(thrown: unknown): string {
  if (!(thrown instanceof InferOptError) || thrown.kind === "interrupted") throw thrown;
  return thrown.message;
}

function write(model: Model, { tapped, inner }: Probe, outputs: readonly DescribedPort[], isRepeated: boolean): number {
  const ports = new Set(model.graph.outputs.map(({ value }) => value));
  let known = 0;
  for (const { name, dtype, shape } of outputs) {
    const value = tapped.get(name);
    if (!value || (dtype === null && shape === null)) continue;
    known++;
    value.type = annotated(value.type, dtype, shape, ports.has(value), isRepeated);
  }
  for (const [input, type] of inner) input.type = type;
  return known;
}

/** What the model declares about its outputs is public and stays; it is only completed. */
function annotated(
  old: TensorType | null,
  dtype: DType | null,
  shape: Shape | null,
  isPort: boolean,
  isRepeated: boolean,
): TensorType {
  const oldShape = old?.shape ?? null;
  if (isPort && oldShape) return { dtype: old?.dtype ?? dtype, shape: oldShape };
  // The binding cannot tell a scalar from a tensor of unknown rank.
  if (!shape || shape.length === 0) return { dtype: dtype ?? old?.dtype ?? null, shape: oldShape };
  const filled = shape.map((dim, axis) => {
    const before = oldShape?.length === shape.length ? oldShape[axis]! : null;
    // A number from the file where the runtime sees none may be stale: only names are taken over.
    return dim ?? (typeof before === "string" || isRepeated ? before : null);
  });
  return { dtype: dtype ?? old?.dtype ?? null, shape: filled };
}

interface Probe {
  readonly probe: Model;
  /** The value behind each output of the probe. */
  readonly tapped: ReadonlyMap<string, Value>;
  readonly hasBodies: boolean;
  /** Inputs of bodies, with what is true of them in every iteration. */
  readonly inner: ReadonlyMap<Value, TensorType>;
}

function probeOf(model: Model, withBodies: boolean): Probe {
  const graph = new Graph();
  const values = new Map<Value, Value>();
  const tapped = new Map<string, Value>();
  const inner = new Map<Value, TensorType>();
  let hasBodies = false;

  const lay = (source: Graph): void => {
    for (const constant of source.constants) values.set(constant, standIn(constant, graph));
    for (const node of source.nodes()) {
      copyNode(node, graph, values);
      for (const output of node.outputs) {
        if (!output) continue;
        const name = `probe_${tapped.size}`;
        graph.addOutput(name, values.get(output)!);
        tapped.set(name, output);
      }
      const types = withBodies ? bodyInputTypes(node) : null;
      if (!types) continue;
      hasBodies = true;
      for (const body of node.bodies) {
        body.inputs.forEach((input, i) => {
          values.set(input, graph.addInput(input.label, types[i]!));
          inner.set(input, types[i]!);
        });
        lay(body);
      }
    }
  };

  for (const input of model.graph.inputs) {
    const twin = graph.addInput(input.label, input.type);
    twin.info = input.info;
    values.set(input, twin);
  }
  lay(model.graph);
  return { probe: { ...model, graph }, tapped, hasBodies, inner };
}

function standIn(constant: Value, graph: Graph): Value {
  const tensor = constant.constant;
  const isLarge = tensor !== null && tensor.byteLength > LARGE_BYTES && tensor.dtype !== "string";
  return isLarge ? graph.addInput(constant.label, typeOf(tensor)) : copyConstant(constant, graph);
}

const typeOf = (tensor: Tensor): TensorType => ({ dtype: tensor.dtype, shape: tensor.dims });
