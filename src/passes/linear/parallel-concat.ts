/**
 * Concat(Conv(x, V, a), Conv(x, W, b))              =>  Conv(x, [V; W], [a; b])
 * Concat(Relu(Conv(x, V, a)), Relu(Conv(x, W, b)))  =>  Relu(Conv(x, [V; W], [a; b]))
 *
 * for neighbours in a Concat of channels that read one input in the same way and go
 * through the same operators, element by element. Also of Gemm and MatMul, along the last
 * axis. Nothing is copied and one kernel has all the work.
 */
import { type Node, soleReader, type Value } from "../../ir/index.js";
import { isPointwise } from "../../ops/facts.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { isSameStep } from "../../rewrite/match.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { transposed } from "./parallel-sum.js";
import { type Stencil, stencilOf } from "./stencil.js";

const MOST_ELEMENTS = 1 << 24;
const MOST_STEPS = 4;

export const fuseParallelConcat = defineRewrite({
  name: "fuse-parallel-concat",
  summary: "Make one Conv, Gemm or MatMul of several of the same input whose results are concatenated",
  numerics: "rounding",
  roots: ["Concat"],
  minOpset: 8,
  rewrite(root, context) {
    const rank = root.output.shape?.length;
    const axis = root.int("axis", 1);
    if (!rank) return null;
    const branches = root.inputs.map((input) => input && branchOf(input, axis < 0 ? axis + rank : axis, rank));
    for (const [from, first] of branches.entries()) {
      if (!first) continue;
      let to = from + 1;
      while (to < branches.length && branches[to] && isAlike(first, branches[to]!)) to++;
      if (to - from < 2) continue;
      const merged = merge(branches.slice(from, to) as Branch[], rank, context);
      if (typeof merged === "string") return context.skip(merged);
      if (to - from === branches.length) return merged;
      const inputs = [...root.inputs.slice(0, from), merged.output, ...root.inputs.slice(to)];
      return context.create("Concat", inputs, root.attributes, { types: [root.output.type] });
    }
    return null;
  },
});

interface Branch {
  readonly stencil: Stencil;
  /** Element by element, nearest to the stencil first. */
  readonly steps: readonly Node[];
}

function branchOf(value: Value, axis: number, rank: number): Branch | null {
  const steps: Node[] = [];
  let at = value;
  while (steps.length <= MOST_STEPS) {
    const node = soleReader(at) && at.producer?.graph === at.graph ? at.producer : null;
    if (!node) return null;
    const stencil = stencilOf(node);
    if (stencil) {
      const channelAxis = stencil.window.length > 0 ? 1 : rank - 1;
      // A weight that others read would stay beside the new one.
      const isOwn = stencil.linear!.weight.useCount === 1;
      return isOwn && stencil.group === 1 && axis === channelAxis ? { stencil, steps: steps.reverse() } : null;
    }
    const input = node.inputs[0];
    if (!isPointwise(node) || !input || node.inputs.slice(1).some((limit) => limit && !limit.constant)) return null;
    steps.push(node);
    at = input;
  }
  return null;
}

function isAlike(a: Branch, b: Branch): boolean {
  const [one, other] = [a.stencil, b.stencil];
  if (one.x !== other.x || one.inputs !== other.inputs || a.steps.length !== b.steps.length) return false;
  if (one.linear!.weightTensor.dtype !== other.linear!.weightTensor.dtype) return false;
  if (JSON.stringify(one.window) !== JSON.stringify(other.window)) return false;
  return a.steps.every((step, i) => isSameStep(step, b.steps[i]!));
}

function merge(branches: readonly Branch[], rank: number, context: RewriteContext): Node | string {
  if (branches.some(({ stencil: { outputs } }) => outputs === 0)) return "a product of no outputs has nothing to join";
  const { stencil, steps } = branches[0]!;
  const { node, weightTensor, weight: old, biasLabel } = stencil.linear!;
  const { dtype, dims } = weightTensor;
  const outputs = branches.reduce((sum, branch) => sum + branch.stencil.outputs, 0);
  const size = weightTensor.elementCount / stencil.outputs;
  if (outputs * size > MOST_ELEMENTS) return "the weights are too large to join here";
  const weight = new Float64Array(outputs * size);
  const bias = new Float64Array(outputs);
  let at = 0;
  for (const branch of branches) {
    weight.set(branch.stencil.weight(), at * size);
    bias.set(branch.stencil.bias, at);
    at += branch.stencil.outputs;
  }
  const isMatrix = stencil.window.length === 0;
  const hasBias = bias.some((value) => value !== 0);
  if (isMatrix && hasBias && rank !== 2) return "a MatMul of more than two axes takes no addend";
  const newWeight = tensorLike(
    dtype,
    isMatrix ? [size, outputs] : [outputs, ...dims.slice(1)],
    isMatrix ? transposed(weight, outputs, size) : weight,
  );
  const newBias = tensorLike(dtype, [outputs], bias);
  if (!newWeight || !newBias) return "the weights are not finite";
  const inputs = [stencil.x, context.constant(old.label, newWeight)];
  if (hasBias) inputs.push(context.constant(biasLabel, newBias));
  const types = [widened(node, outputs, isMatrix)];
  const options = { like: node, types };
  const joined = isMatrix
    ? context.create(hasBias ? "Gemm" : "MatMul", inputs, {}, options)
    : context.create("Conv", inputs, node.attributes, options);
  return steps.reduce<Node>(
    (below, step) =>
      context.create(step.op, [below.output, ...step.inputs.slice(1)], step.attributes, { like: step, types }),
    joined,
  );
}

/** The type of a branch, of all channels. */
function widened(node: Node, channels: number, isMatrix: boolean): Value["type"] {
  const { type } = node.output;
  if (!type?.shape) return type;
  const axis = isMatrix ? type.shape.length - 1 : 1;
  return { dtype: type.dtype, shape: type.shape.map((dim, i) => (i === axis ? channels : dim)) };
}
