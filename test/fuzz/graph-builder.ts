/**
 * A graph that grows node by node. The runtime says after each whether it is valid and what comes out at two sets of
 * sizes, so the operators that make nodes may guess: what does not run is taken back.
 */
import { type Attribute, type DType, type Model, type Node, Tensor, type Value } from "../../src/ir/index.js";
import type { Chance } from "./chance.js";
import { bytesOf, type Feeds, feedsFor, type Outputs, Refusal, randomTensor, runEach } from "./session.js";

/** A value that nodes may read, with what it is in each of the runs. */
export interface Known {
  readonly value: Value;
  readonly dtype: DType;
  /** One list of dimensions a run. */
  readonly dims: readonly (readonly number[])[];
}

export interface NodeSpec {
  readonly op: string;
  readonly domain?: string;
  /** A node in the place of a value is made with it: sequences and optionals are never looked at by themselves. */
  readonly inputs: readonly (Value | NodeSpec | null)[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly outputs?: number;
}

export const rankOf = ({ dims }: Known): number => dims[0]!.length;

/** Dimensions that are the same in all runs; null for those that are not. */
export const staticDims = ({ dims }: Known): (number | null)[] =>
  dims[0]!.map((dim, axis) => (dims.every((run) => run[axis] === dim) ? dim : null));

const LARGEST_ELEMENTS = 4096;
const LARGEST_MAGNITUDE = 1e4;

export class GraphBuilder {
  readonly known: Known[] = [];
  #labels = 0;
  #feeds: readonly Feeds[] = [];

  constructor(
    readonly model: Model,
    readonly chance: Chance,
    readonly seed: number,
  ) {}

  get opset(): number {
    return this.model.opsets.get("") ?? 1;
  }

  /** Runs what is there and gets to know every value of the main graph. False when it does not run. */
  async begin(): Promise<boolean> {
    const { model, seed } = this;
    const { graph } = model;
    try {
      this.#feeds = [feedsFor(model, () => 2, seed), feedsFor(model, (symbol) => 2 + (symbol.length % 3), seed)];
    } catch (thrown) {
      // Of texts, into which a change may have turned an input.
      if (!(thrown instanceof Refusal)) throw thrown;
      return false;
    }
    for (const input of graph.inputs) {
      const dims = this.#feeds.map((each) => each[input.label]?.dims);
      if (dims.every((each) => each !== undefined) && input.dtype) {
        this.known.push({ value: input, dtype: input.dtype, dims });
      }
    }
    const values = [...graph.nodes()].flatMap((node) => node.outputs.filter((output) => output !== null));
    if (values.length === 0) return true;
    const runs = await this.#tapped(values);
    if (!runs) return false;
    for (const value of values) this.#learn(value, runs);
    return true;
  }

  label(): string {
    return `v${this.#labels++}`;
  }

  constant(tensor: Tensor): Value {
    return this.model.graph.addConstant(`c${this.#labels++}`, tensor);
  }

  floats(dims: readonly number[], dtype: DType = "f32"): Value {
    return this.constant(randomTensor(dtype, dims, this.chance.random));
  }

  ints(values: readonly number[], dims: readonly number[] = [values.length]): Value {
    return this.constant(Tensor.i64(dims, values));
  }

  /** Adds the node if the runtime takes it and its results are fit to go on with. */
  async tryAdd(spec: NodeSpec): Promise<boolean> {
    const made: Node[] = [];
    const node = this.#add(spec, made);
    const runs = await this.#tapped(node.outputs.filter((output) => output !== null));
    if (!runs?.every((run) => Object.values(run).every(isModest))) {
      this.#takeBack(made);
      return false;
    }
    for (const output of node.outputs) if (output) this.#learn(output, runs);
    return true;
  }

  /** @param made gets the node, behind those that it reads */
  #add(spec: NodeSpec, made: Node[]): Node {
    const inputs = spec.inputs.map((input) => (input && "op" in input ? this.#add(input, made).output : input));
    const outputs = Array.from({ length: spec.outputs ?? 1 }, () => ({ label: this.label() }));
    const node = this.model.graph.addNode({ ...spec, inputs, outputs });
    if (spec.domain) this.model.opsets.set(spec.domain, 1);
    made.push(node);
    return node;
  }

  #takeBack(made: readonly Node[]): void {
    const { graph } = this.model;
    for (const node of [...made].reverse()) graph.removeNode(node);
    for (const value of graph.constants) if (value.useCount === 0) graph.removeConstant(value);
  }

  #learn(value: Value, runs: readonly Outputs[]): void {
    const tensors = runs.map((run) => run[tapName(value)]!);
    if (tensors.some((tensor) => !tensor)) return;
    this.known.push({ value, dtype: tensors[0]!.dtype, dims: tensors.map(({ dims }) => dims) });
  }

  /** Results of some values in each run, by tap name; null when a run fails. */
  async #tapped(values: readonly Value[]): Promise<Outputs[] | null> {
    const { graph } = this.model;
    const existing = graph.outputs;
    for (const { name } of existing) graph.removeOutput(name);
    for (const value of values) graph.addOutput(tapName(value), value);
    try {
      const runs = await runEach(bytesOf(this.model), this.#feeds);
      return runs.some((run) => run instanceof Refusal) ? null : (runs as Outputs[]);
    } catch (thrown) {
      if (thrown instanceof Refusal) return null;
      throw thrown;
    } finally {
      for (const value of values) graph.removeOutput(tapName(value));
      for (const { name, value, info } of existing) graph.addOutput(name, value, info);
    }
  }
}

const tapName = (value: Value): string => `tap:${value.label}`;

function isModest(tensor: Tensor): boolean {
  if (tensor.elementCount > LARGEST_ELEMENTS) return false;
  const values = tensor.toF32();
  return values === null || values.every((value) => Number.isFinite(value) && Math.abs(value) < LARGEST_MAGNITUDE);
}
