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
import { isFault } from "../base/errors.js";
import {
  type Dim,
  type DType,
  Graph,
  type Model,
  type Node,
  opsetOf,
  promisedShape,
  type Shape,
  type Tensor,
  type TensorType,
  type Value,
} from "../ir/index.js";
import { dtypesOf } from "../ops/dtypes.js";
import { sinceVersion } from "../ops/since-versions.js";
import { backwardEnds } from "../ops/slice-end.js";
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
  /** Sizes of inputs were settled: what the model declares about its outputs follows where the runtime now knows a size. */
  readonly isSized?: boolean;
}

/** Constants above this many bytes stand in as inputs. Shape vectors, axes and scales stay: inference reads them. */
const LARGE_BYTES = 1024;

/** Writes dtype and shape on the values of the model. Never fails over a model that the runtime refuses. */
export async function annotateTypes(
  model: Model,
  describe: Describe,
  options: AnnotateOptions = {},
): Promise<Annotation> {
  let problem: string | null = null;
  for (const reach of reaches) {
    const probe = probeOf(model, reach);
    if (probe.tapped.size === 0 || (problem !== null && !probe.isShort)) continue;
    try {
      const { outputs } = await describe(probe.probe);
      return { known: write(model, probe, outputs, options), problem: null };
    } catch (thrown) {
      problem ??= refusalOf(thrown);
    }
  }
  return { known: 0, problem };
}

/**
 * How much of a model a probe holds: bodies laid out flat; nodes with their bodies; or
 * neither nodes with bodies nor operators that are unknown or of other domains, nor what hangs on one of unknown
 * type. A branch that is never taken may be one that the runtime refuses, and must not cost the rest.
 */
const reaches = ["flat", "nodes", "plain"] as const;
type Reach = (typeof reaches)[number];

/** What the runtime has against a probe. Everything else that was thrown goes on as it is. */
function refusalOf(thrown: unknown): string {
  if (!isFault(thrown)) throw thrown;
  const { reason } = thrown.fields;
  // Without the path of the probe, which is gone by the time that somebody reads this.
  return typeof reason === "string" ? reason : thrown.message;
}

function write(
  model: Model,
  { tapped, inner }: Probe,
  outputs: readonly DescribedPort[],
  options: AnnotateOptions,
): number {
  const promises = new Map(model.graph.outputs.map(({ value, info }) => [value, promisedShape(info)]));
  let known = 0;
  for (const { name, dtype, shape } of outputs) {
    const value = tapped.get(name);
    if (!value || (dtype === null && shape === null)) continue;
    known++;
    value.type = annotated(value.type, dtype, shape, promises.get(value), options);
  }
  for (const [input, type] of inner) input.type = type;
  return known;
}

/**
 * What the model declares about its outputs is public, and the writer keeps it. It need not be true, though: names of
 * sizes are often given carelessly, and runtimes only warn. So passes see what the runtime sees, where it sees anything.
 */
function annotated(
  old: TensorType | null,
  dtype: DType | null,
  shape: Shape | null,
  /** What the file says of a graph output; nothing of values inside. */
  promised: Shape | null | undefined,
  { isRepeated, isSized }: AnnotateOptions,
): TensorType {
  const oldShape = old?.shape ?? null;
  if (promised !== undefined && oldShape && !contradicts(oldShape, shape)) {
    const followed = (declared: Dim, axis: number): Dim => {
      const seen = shape?.length ? shape[axis]! : null;
      if (typeof seen === "number" && isSized) return seen;
      // Only the file knew it at first.
      if (declared === null && seen === promised?.[axis]) return seen;
      if (isRepeated || declared === null) return declared;
      // The writer would write the number in place of the name.
      return typeof declared === "string" && typeof seen === "number" ? null : seen;
    };
    return { dtype: old?.dtype ?? dtype, shape: oldShape.map(followed) };
  }
  // The binding cannot tell a scalar from a tensor of unknown rank.
  if (!shape || shape.length === 0) return { dtype: dtype ?? old?.dtype ?? null, shape: oldShape };
  const filled = shape.map((dim, axis) => {
    const before = oldShape?.length === shape.length ? oldShape[axis]! : null;
    // What the file alone knows may be stale, a name as well as a number.
    return dim ?? (isRepeated ? before : null);
  });
  return { dtype: dtype ?? old?.dtype ?? null, shape: filled };
}

/** Whether the runtime sees other numbers than the file declares. */
const contradicts = (declared: Shape, seen: Shape | null): boolean =>
  !!seen?.length &&
  (seen.length !== declared.length ||
    seen.some((dim, axis) => typeof dim === "number" && typeof declared[axis] === "number" && dim !== declared[axis]));

interface Probe {
  readonly probe: Model;
  /** The value behind each output of the probe. */
  readonly tapped: ReadonlyMap<string, Value>;
  /** Whether it holds less than the probe of the reach before: else there is no use in asking again. */
  readonly isShort: boolean;
  /** Inputs of bodies, with what is true of them in every iteration. */
  readonly inner: ReadonlyMap<Value, TensorType>;
}

function probeOf(model: Model, reach: Reach): Probe {
  const graph = new Graph();
  const values = new Map<Value, Value>();
  const tapped = new Map<string, Value>();
  const inner = new Map<Value, TensorType>();
  const dtypes = reach === "plain" ? dtypesOf(model) : null;
  // Since then Identity takes all that a branch may give.
  const echoes = opsetOf(model) >= 16;
  let isShort = false;

  const lay = (source: Graph): void => {
    for (const constant of source.constants) values.set(constant, standIn(constant, graph));
    for (const node of source.nodes()) {
      if (dtypes && !isPlain(node, model, values)) {
        isShort = true;
        for (const output of node.outputs) {
          const dtype = output && dtypes.get(output);
          if (dtype) values.set(output, graph.addInput(output.label, { dtype, shape: null }));
        }
        continue;
      }
      const types = bodyInputTypes(node);
      const isEchoed = reach === "flat" && types !== null && node.is("If") && echoes;
      if (isEchoed) for (const body of node.bodies) lay(body);
      const copy = copyNode(node, graph, values, isEchoed ? { bodyOf: (body) => echoOf(body, values) } : {});
      const ends = backwardEnds(node);
      if (ends) graph.setInput(copy, 2, graph.addConstant("ends", ends));
      for (const output of node.outputs) {
        if (!output) continue;
        const name = `probe_${tapped.size}`;
        graph.addOutput(name, values.get(output)!);
        tapped.set(name, output);
      }
      if (!types) continue;
      isShort ||= reach === "nodes";
      if (reach !== "flat" || isEchoed) continue;
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
  return { probe: { ...model, graph }, tapped, isShort, inner };
}

/**
 * A branch that gives what the same branch gives laid out flat: one copy tells all, where copies within copies would
 * take the runtime many times as long.
 */
function echoOf(body: Graph, values: ReadonlyMap<Value, Value>): Graph {
  const echo = new Graph();
  for (const { name, value, info } of body.outputs) {
    const inputs = [values.get(value)!];
    const { output } = echo.addNode({ op: "Identity", inputs, outputs: [{ label: value.label, type: null }] });
    echo.addOutput(name, output, info);
  }
  return echo;
}

/** A known operator of ai.onnx without bodies, or a function of the model, all of whose inputs the probe has. */
const isPlain = (node: Node, model: Model, values: ReadonlyMap<Value, Value>): boolean =>
  (model.functions.has(`${node.domain}::${node.op}`) ||
    (node.domain === "" && sinceVersion(node.op, opsetOf(model)) !== null)) &&
  node.bodies.length === 0 &&
  node.inputs.every((value) => !value || values.has(value));

function standIn(constant: Value, graph: Graph): Value {
  const tensor = constant.constant;
  const isLarge = tensor !== null && tensor.byteLength > LARGE_BYTES && tensor.dtype !== "string";
  return isLarge ? graph.addInput(constant.label, typeOf(tensor)) : copyConstant(constant, graph);
}

const typeOf = (tensor: Tensor): TensorType => ({ dtype: tensor.dtype, shape: tensor.dims });
