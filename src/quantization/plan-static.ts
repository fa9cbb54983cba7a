/**
 * Which nodes run on integers, decided on the graph alone: products with constant
 * weights, and the neighbours between them that have integer kernels. Everything
 * else is listed with its reason. What the choice costs and gains is measured later.
 */
import { type Graph, isFloat, type Model, type Node, nodesWithin, soleReader, type Value } from "../ir/index.js";
import { quantizedFormOf } from "../ops/quantizing.js";
import { isDepthwise } from "../target/channel-region.js";
import {
  activationSlots,
  type IntegerKernel,
  type IntegerTarget,
  isWrongKernel,
  kernelFor,
} from "../target/integer-kernel.js";
import { channelAxis, whyNotPlainGemm } from "./gemm.js";
import { movers } from "./movers.js";
import { type NodeChoice, takesAll } from "./node-choice.js";

/** How far a static placement goes. */
export interface Placement {
  /** Also quantize neighbours (Add, Concat, pooling, ...) that lie between integer products. */
  readonly neighbours: boolean;
  /** Whether depthwise convolutions, which gain least, are quantized. */
  readonly depthwise: boolean;
}

export interface PlacementOptions extends Placement, NodeChoice {}

export interface FloatNode {
  readonly node: string;
  readonly op: string;
  readonly reason: string;
}

export interface PlannedNode {
  readonly node: Node;
  readonly kernel: IntegerKernel;
  /** The values to quantize behind the node (after an activation that the kernel absorbs); none for a float result. */
  readonly outputs: readonly Value[];
}

export interface StaticPlan {
  /** In execution order. */
  readonly nodes: readonly PlannedNode[];
  readonly float: readonly FloatNode[];
  /** Names of nodes that somebody wants in float. */
  readonly keptFloat: ReadonlySet<string>;
}

/** Operators that do the work of a model and that a reader would look for among the quantized ones. */
const heavy = new Set(["Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "RNN"]);

export function planStatic(model: Model, target: IntegerTarget, options: PlacementOptions): StaticPlan {
  const float: FloatNode[] = [];
  const refuse = (node: Node, reason: string): void =>
    void float.push({ node: node.displayName, op: node.opName, reason });

  const { takes = takesAll } = options;
  const compute = new Set<Node>();
  /** Products of two activations: neighbours, but missed where they are not quantized. */
  const between: Node[] = [];
  for (const node of nodesWithin(model.graph)) {
    if (!takes(node)) continue;
    const kernel = kernelFor(target, node);
    if (kernel?.kind !== "compute") {
      if (kernel && target.kernels[node.op]!.kind === "compute") between.push(node);
      else if (!kernel && node.domain === "" && heavy.has(node.op))
        refuse(node, `the target has no integer ${node.op}`);
      continue;
    }
    const reason = options.keepFloat?.get(node.name) ?? whyNotCompute(node, model.graph, options);
    if (reason) refuse(node, reason);
    else compute.add(node);
  }
  for (const [reader, wrong] of besideWrongKernels(model.graph, target)) {
    if (!compute.delete(reader)) continue;
    refuse(reader, `integers on both sides of ${wrong.displayName}, whose integer kernel is wrong, must be avoided`);
  }
  const neighbours = options.neighbours ? chooseNeighbours(model.graph, target, compute, options) : new Set<Node>();
  for (const node of between) {
    if (neighbours.has(node)) continue;
    const reason = options.keepFloat?.get(node.name) ?? whyNotCompute(node, model.graph, options);
    refuse(node, reason ?? "both factors are activations");
  }

  const nodes: PlannedNode[] = [];
  for (const node of model.graph.nodes()) {
    if (!compute.has(node) && !neighbours.has(node)) continue;
    const kernel = kernelFor(target, node)!;
    const behind = behindNode(node, kernel);
    const isRead = behind.some(({ uses }) =>
      uses.some(
        (use) =>
          use.kind === "input" &&
          (compute.has(use.node) || neighbours.has(use.node)) &&
          isActivationSlot(use.node, use.index, target),
      ),
    );
    const isQuantized = kernel.needsQuantizedOutput || isRead || (target.isMeasurable && losesItsKernel(node));
    nodes.push({ node, kernel, outputs: isQuantized ? behind : [] });
  }
  for (const node of neighboursKeptFloat(model.graph, target, compute, options)) {
    if (!between.includes(node)) refuse(node, options.keepFloat!.get(node.name)!);
  }
  return { nodes, float, keptFloat: new Set(options.keepFloat?.keys()) };
}

/** Neighbours that would be integers if nobody had said that they are to stay float. */
function neighboursKeptFloat(
  graph: Graph,
  target: IntegerTarget,
  compute: ReadonlySet<Node>,
  { keepFloat, ...options }: PlacementOptions,
): Node[] {
  if (!keepFloat || !options.neighbours) return [];
  const asked = [...graph.nodes()].filter((node) => {
    const kernel = keepFloat.has(node.name) ? kernelFor(target, node) : null;
    if (!kernel || kernel.kind === "compute") return false;
    return activationsRead(node, kernel).some((value) => value && !value.constant);
  });
  if (asked.length === 0) return [];
  const all = chooseNeighbours(graph, target, compute, options);
  return asked.filter((node) => all.has(node));
}

/**
 * What is quantized behind a node: its result, or that of the Relu or Clip which is the only
 * reader. The kernel absorbs it, since integers with zero point 0 saturate at the same places;
 * moving elements leaves no place to saturate.
 */
export const behindNode = (node: Node, kernel: IntegerKernel): readonly Value[] =>
  kernel.kind === "passthrough"
    ? node.outputs.filter((value) => value !== null)
    : [absorbedReader(node.output)?.output ?? node.output];

/**
 * A Gemm behind what only moves integers, with a Relu behind it and no integers: ONNX Runtime (1.30, 1.32) makes both one
 * float kernel before it has moved the pair away from in front, and widens the weights in every run.
 */
function losesItsKernel({ op, inputs: [input], output }: Node): boolean {
  const isMoved = input?.producer?.domain === "" && moversAndCasts.has(input.producer.op);
  return op === "Gemm" && isMoved && soleReader(output)?.is("Relu") === true;
}

function absorbedReader(value: Value): Node | null {
  const reader = soleReader(value);
  if (reader?.inputs[0] !== value) return null;
  return reader.is("Relu") || (reader.is("Clip") && startsAtZero(reader)) ? reader : null;
}

/** Elsewhere the lower bound lies between two integers, and the runtime keeps the Clip and the float kernel before it. */
function startsAtZero({ inputs: [, min, max] }: Node): boolean {
  const tensor = min?.constant;
  if (tensor?.elementCount !== 1 || tensor.toF32()?.[0] !== 0) return false;
  return !max || max.constant !== null;
}

function whyNotCompute(node: Node, main: Graph, options: PlacementOptions): string | null {
  if (node.graph !== main)
    return `inside a body of ${node.graph.owner?.op ?? "another node"}, where no ranges are measured`;
  const [input, weight] = node.inputs;
  if (!input || !weight) return "an input is absent";
  if (!weight.constant) {
    if (isWidened(weight)) {
      return isWidened(input)
        ? "quantized already: both factors come from a DequantizeLinear"
        : "quantized already: the weights come from a DequantizeLinear";
    }
    return input.constant ? "the weights come first" : "both factors are activations";
  }
  if (weight.constant.dtype !== "f32") return `weights of type ${weight.constant.dtype}`;
  if (input.constant) return "both factors are constant";
  if (input.dtype !== null && input.dtype !== "f32") return `activations of type ${input.dtype}`;
  if (weight.constant.elementCount === 0) return "empty weights";
  switch (node.op) {
    case "Conv":
      return whyNotConv(node, options);
    case "ConvTranspose":
      return node.int("group", 1) === 1 ? whyNotConv(node, options) : "a ConvTranspose in groups";
    case "Gemm":
      return whyNotGemm(node);
    default:
      return weight.constant.dims.length === 2 ? null : `weights of rank ${weight.constant.dims.length}`;
  }
}

/**
 * Nodes that would put a pair behind one whose integer kernel is wrong, with that one: its readers, also
 * behind what the runtime moves a pair through or merges into it.
 */
function besideWrongKernels(graph: Graph, target: IntegerTarget): Map<Node, Node> {
  const found = new Map<Node, Node>();
  for (const node of graph.nodes()) {
    const wrong = isWrongKernel(target, node) ? node : passesPairs(node, target) ? found.get(node) : undefined;
    if (!wrong) continue;
    for (const { uses } of node.outputs.filter((value) => value !== null))
      for (const use of uses) if (use.kind === "input" && use.node.graph === graph) found.set(use.node, wrong);
  }
  return found;
}

const passesPairs = (node: Node, target: IntegerTarget): boolean =>
  node.is("Relu") || node.is("Clip") || node.is("Identity") || kernelFor(target, node)?.kind === "passthrough";

const moversAndCasts = new Set([...movers, "Cast"]);

/** Whether a value is made of integers by DequantizeLinear, of either domain, and at most moved after it. */
function isWidened(value: Value): boolean {
  for (let node = value.producer; node; node = node.inputs[0]?.producer ?? null) {
    if (node.op === "DequantizeLinear" && quantizedFormOf(node.opName) !== null) return true;
    if (node.domain !== "" || !moversAndCasts.has(node.op)) return false;
  }
  return false;
}

function whyNotConv(node: Node, options: PlacementOptions): string | null {
  const [, weight, bias] = node.inputs;
  if (bias && bias.constant?.dtype !== "f32") return "the bias is computed at run time";
  const dims = weight!.constant!.dims;
  if (dims.length > 5) return `a convolution over ${dims.length - 2} axes`;
  return !options.depthwise && isDepthwise(node) ? "a depthwise convolution, which gains too little here" : null;
}

function whyNotGemm(node: Node): string | null {
  const [, weight, bias] = node.inputs;
  const whyNot = whyNotPlainGemm(node);
  if (whyNot !== null) return whyNot;
  if (weight!.constant!.dims.length !== 2) return "weights that are no matrix";
  if (!bias) return null;
  if (bias.constant?.dtype !== "f32") return "the bias is computed at run time";
  const width = weight!.constant!.dims[channelAxis(node)];
  const { dims, elementCount } = bias.constant;
  const isRow = elementCount === width && (dims.at(-1) ?? 1) === width;
  return isRow ? null : "a bias that is not one number per column";
}

/**
 * Neighbours between integer products: what they make is read by integers in the end, and one activation at least is
 * made by integers. The others may come of float nodes, where a product reads them as integers too, or else are
 * converted for them where the target's table of kernels lets the caller ask of each whether that pays.
 */
function chooseNeighbours(
  graph: Graph,
  target: IntegerTarget,
  compute: ReadonlySet<Node>,
  options: PlacementOptions,
): Set<Node> {
  const { takes = takesAll } = options;
  const order = [...graph.nodes()];
  const isInteger = new Set<Value>();
  const readAsIntegers = new Set(
    [...compute].flatMap((node) => activationsRead(node, kernelFor(target, node)!)).filter((value) => !value?.constant),
  );
  const areIntegers = (activations: readonly (Value | null)[], made: ReadonlySet<Value | null>): boolean =>
    activations.some((value) => made.has(value)) &&
    activations.every(
      (value) => made.has(value) || readAsIntegers.has(value) || (target.times && value && isConvertible(value)),
    );
  const kernels = new Map<Node, IntegerKernel>();
  for (const node of order) {
    const kernel = kernelFor(target, node);
    if (!kernel) continue;
    if (compute.has(node)) {
      for (const value of behindNode(node, kernel)) isInteger.add(value);
      continue;
    }
    if (kernel.kind === "compute" || options.keepFloat?.has(node.name) || !takes(node)) continue;
    if (!isFloat(node.output.dtype ?? "f32")) continue;
    if (!areIntegers(activationsRead(node, kernel), isInteger)) continue;
    // The indices of a MaxPool have no integer kernel; the parts of a Split are all alike.
    if (node.op !== "Split" && node.outputs.filter((value) => value).length !== 1) continue;
    kernels.set(node, kernel);
    for (const value of behindNode(node, kernel)) isInteger.add(value);
  }
  const leads = new Set<Node>();
  for (const node of order.reverse()) {
    const kernel = kernels.get(node);
    if (!kernel) continue;
    const ends = behindNode(node, kernel).some(({ uses }) =>
      uses.some(
        (use) =>
          use.kind === "input" &&
          (compute.has(use.node) || leads.has(use.node)) &&
          isActivationSlot(use.node, use.index, target),
      ),
    );
    if (ends) leads.add(node);
  }
  // What fed a node that was dropped feeds nothing now: keep only those whose inputs are still all integers.
  for (let changed = true; changed; ) {
    changed = false;
    const made = new Set([...compute, ...leads].flatMap((node) => behindNode(node, kernelFor(target, node)!)));
    for (const node of leads) {
      if (areIntegers(activationsRead(node, kernels.get(node)!), made)) continue;
      leads.delete(node);
      changed = true;
    }
  }
  return leads;
}

/** What a float node makes, or the model is given. */
export const isConvertible = (value: Value): boolean =>
  !value.constant && isFloat(value.dtype ?? "f32") && !isFew(value);

/** One number of a sample: to convert it saves nothing, and few samples tell its range badly. */
const isFew = ({ shape }: Value): boolean =>
  !!shape && (shape.length < 2 || shape.slice(1).every((size) => size === 1));

const activationsRead = (node: Node, kernel: IntegerKernel): readonly (Value | null)[] =>
  activationSlots(node, kernel).map((index) => node.inputs[index] ?? null);

function isActivationSlot(node: Node, index: number, target: IntegerTarget): boolean {
  const kernel = kernelFor(target, node);
  return kernel !== null && activationSlots(node, kernel).includes(index);
}
