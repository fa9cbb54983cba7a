/**
 * Float32 to float16 or bfloat16, in the main graph and the bodies of If, Loop and Scan.
 *
 * Types follow the operators' constraints (float16-types.ts); what has to stay float32
 * (keep-float32.ts) gets Casts around it, one for each value and direction, next to where
 * the value is made. Weights are narrowed while they are written (narrow-tensor.ts).
 */
import {
  attr,
  type DType,
  dtypeCode,
  type Graph,
  graphsWithin,
  type Model,
  type Node,
  nodesWithin,
  Tensor,
  type Value,
} from "../../ir/index.js";
import { applyRewrite } from "../../rewrite/index.js";
import { eliminateCastLike } from "../eliminate/cast-like.js";
import { forgetUnfoundedSizes } from "./body-sizes.js";
import { type HalfType, narrowTensor } from "./narrow-tensor.js";
import { type Float32Node, type NarrowingOptions, NarrowingPlan } from "./narrowing-plan.js";

export interface NarrowingReport {
  /** Nodes that compute on narrow values now. */
  readonly narrow: number;
  /** Nodes that had float32 values and keep them, each with its reason. */
  readonly float: readonly Float32Node[];
  /** Cast nodes put in and taken out. */
  readonly castsAdded: number;
  readonly castsRemoved: number;
  /** Weights that are not zero and became zero: |w| below 2^-25. */
  readonly flushed: number;
  /** Remarks in words. */
  readonly notes: readonly string[];
}

/** Narrows the model in place. Small models, big models: no weight is held in memory for it. */
export function toFloat16(model: Model, options: NarrowingOptions): NarrowingReport {
  settleCastLikes(model);
  const plan = new NarrowingPlan(model, options);
  const edit = new Narrowing(plan);
  edit.run();
  const notes: string[] = [];
  if (edit.flushed > 0) notes.push(`${edit.flushed} weights are too small for float16 and became zero`);
  if (edit.twice > 0) notes.push(`${edit.twice} constants are stored twice: float32 nodes read them too`);
  return {
    narrow: plan.narrowNodes,
    float: plan.float,
    castsAdded: edit.castsAdded,
    castsRemoved: edit.castsRemoved,
    flushed: edit.flushed,
    notes,
  };
}

/** Writes out the types that CastLike reads off values: ONNX Runtime cannot run the function that it is with half precision. */
function settleCastLikes(model: Model): void {
  const surroundings = { model, store: (tensor: Tensor) => tensor, target: null, memory: new Map() };
  for (const node of [...nodesWithin(model.graph)]) {
    if (node.is("CastLike")) applyRewrite(eliminateCastLike, node, surroundings);
  }
}

const zero = Tensor.f32([1], [0]);

const resultTypeAttribute: Readonly<Record<string, string>> = {
  Bernoulli: "dtype",
  Cast: "to",
  RandomNormalLike: "dtype",
  RandomUniformLike: "dtype",
};

class Narrowing {
  castsAdded = 0;
  castsRemoved = 0;
  flushed = 0;
  twice = 0;
  /** The other version of a value: narrow of a wide one, wide of a narrow one. */
  readonly #versions = new Map<Value, Value>();

  constructor(readonly plan: NarrowingPlan) {}

  get target(): HalfType {
    return this.plan.options.target;
  }

  run(): void {
    const graphs = [...graphsWithin(this.plan.model.graph)];
    const nodes = graphs.flatMap((graph) => [...graph.nodes()]);
    for (const node of nodes) forgetUnfoundedSizes(node);
    const values = graphs.flatMap((graph) => [...graph.inputs, ...graph.constants]);
    for (const node of nodes) for (const output of node.outputs) if (output) values.push(output);

    const narrow = values.filter((value) => this.plan.isNarrow(value));
    for (const node of nodes) this.#adaptInputs(node);
    for (const graph of graphs) this.#adaptOutputs(graph);
    for (const value of narrow) {
      if (value.type) value.type = { dtype: this.target, shape: value.type.shape };
      if (value.producer) this.#adaptAttributes(value.producer);
    }
    const narrowed = new Set(narrow);
    const dtypeOf = (value: Value): DType | null =>
      narrowed.has(value) ? this.target : (value.constant?.dtype ?? this.plan.dtypes.get(value) ?? value.dtype);
    for (const node of nodes) this.#removeIdleCast(node, dtypeOf);
    for (const value of values) this.#dropConstant(value);
  }

  #adaptInputs(node: Node): void {
    node.inputs.forEach((value, index) => {
      if (!value || this.plan.dtypes.get(value) !== "f32") return;
      const other = this.#versionFor(value, this.plan.wanted({ kind: "input", node, index }));
      if (other !== value) node.graph.setInput(node, index, other);
    });
  }

  /** Ports keep names and order: they are set anew, all of them. */
  #adaptOutputs(graph: Graph): void {
    const ports = graph.outputs.map((port) => {
      if (this.plan.dtypes.get(port.value) !== "f32") return port;
      return { ...port, value: this.#versionFor(port.value, this.plan.wanted({ kind: "output", graph, port })) };
    });
    if (ports.every((port, i) => port.value === graph.outputs[i]!.value)) return;
    for (const { name } of ports) graph.removeOutput(name);
    for (const { name, value, info } of ports) graph.addOutput(name, value, info);
  }

  #versionFor(value: Value, wanted: "narrow" | "wide" | "either"): Value {
    if (wanted === "either" || (wanted === "narrow") === this.plan.isNarrow(value)) return value;
    let other = this.#versions.get(value);
    if (!other) {
      other = value.constant
        ? this.#narrowConstant(value)
        : this.#cast(value, wanted === "narrow" ? this.target : "f32");
      this.#versions.set(value, other);
    }
    return other;
  }

  #narrowConstant(value: Value): Value {
    this.flushed += this.plan.keeper.loss(value).flushed;
    return value.graph.addConstant(value.label, narrowTensor(value.constant!, this.target));
  }

  /** A Cast right behind where the value is made, for every reader of that type, those in bodies included. */
  #cast(value: Value, to: DType): Value {
    const producer = value.producer;
    this.castsAdded++;
    return value.graph.addNode(
      {
        op: "Cast",
        name: `${value.label}/to_${to}`,
        inputs: [value],
        attributes: { to: attr.int(dtypeCode(to)) },
        outputs: [{ label: `${value.label}_${to}`, type: { dtype: to, shape: value.shape } }],
        provenance: producer?.provenance ?? [],
      },
      producer ? producer.next : value.graph.firstNode,
    ).output;
  }

  /** Operators that say the type of their result by an attribute. */
  #adaptAttributes(node: Node): void {
    const name = resultTypeAttribute[node.op];
    if (node.domain === "" && name) node.graph.setAttribute(node, name, attr.int(dtypeCode(this.target)));
    if (!node.is("ConstantOfShape")) return;
    const fill = node.attributes.get("value");
    const tensor = fill?.type === "tensor" ? fill.value : zero;
    node.graph.setAttribute(node, "value", attr.tensor(narrowTensor(tensor, this.target)));
  }

  /** Takes out a Cast of the model whose input has become what it casts to. */
  #removeIdleCast(node: Node, dtypeOf: (value: Value) => DType | null): void {
    const [input] = node.inputs;
    if (!node.is("Cast") || !input || !node.attached) return;
    const { output } = node;
    const wasIdle = this.plan.dtypes.get(input) === this.plan.dtypes.get(output);
    if (wasIdle && !this.plan.isNarrow(output)) return;
    if (dtypeOf(input) !== dtypeOf(output)) return;
    node.graph.replaceUses(output, input);
    node.graph.removeNode(node);
    this.castsRemoved++;
  }

  #dropConstant(value: Value): void {
    const other = this.#versions.get(value);
    if (!value.constant || !other) return;
    if (value.useCount === 0) value.graph.removeConstant(value);
    else if (value.constant.elementCount > 1) this.twice++;
  }
}
