/**
 *   DepthToSpace<mode="CRD">(Conv(x, w))  =>  DepthToSpace<mode="DCR">(Conv(x, w'))    w': the same channels in another order
 *
 * also through activations. PyTorch's pixel shuffle takes what becomes one channel from channels that follow one another. In the
 * other order channels of one place stay together: integers, whose channels are last, are moved by whole rows of them.
 */
import { attr, type Node, soleReader, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";

/** Each element by itself; other inputs are one number for all. */
const elementwise = new Set(
  "Clip Elu Erf Gelu HardSigmoid HardSwish LeakyRelu Mish PRelu Relu Sigmoid Softplus Tanh".split(" "),
);

export const fuseShuffleOrder = defineRewrite({
  name: "fuse-shuffle-order",
  summary: "Give a Conv the order of channels in which DepthToSpace keeps those of a place together",
  numerics: "exact",
  roots: ["DepthToSpace"],
  minOpset: 11,
  rewrite(shuffle, context) {
    const block = shuffle.int("blocksize", 0);
    const way = shuffle.string("mode", "DCR") === "CRD" && block > 1 ? wayFromConv(shuffle) : null;
    if (!way) return null;
    const [conv, ...steps] = way;
    const [x, weight, bias] = conv.inputs;
    const from = channelsBySource(weight!.constant!.dims[0]!, block);
    const ordered = (value: Value): Value => context.constant(value.label, inOrder(value.constant!, from));
    const inputs = [x!, ordered(weight!), ...(bias ? [ordered(bias)] : [])];
    let value = again(conv, inputs, context);
    for (const step of steps) value = again(step, [value, ...step.inputs.slice(1)], context);
    const attributes = { blocksize: attr.int(block), mode: attr.string("DCR") };
    return context.create("DepthToSpace", [value], attributes, { types: [shuffle.output.type] });
  },
});

function again(node: Node, inputs: readonly (Value | null)[], { create }: RewriteContext): Value {
  const { op, attributes, output } = node;
  return create(op, inputs, attributes, { like: node, labels: [output.label], types: [output.type] }).output;
}

/** A Conv whose channels nobody else reads, and what stands between; null where there is none. */
function wayFromConv(shuffle: Node): readonly [Node, ...Node[]] | null {
  const steps: Node[] = [];
  for (let value = shuffle.inputs[0]!; ; ) {
    const { producer } = value;
    if (producer?.domain !== "" || producer.graph !== shuffle.graph || !soleReader(value)) return null;
    if (producer.op === "Conv") return isPermutable(producer, shuffle) ? [producer, ...steps] : null;
    const others = producer.inputs.slice(1);
    const isAlike = others.every((other) => !other || other.constant?.elementCount === 1);
    if (!elementwise.has(producer.op) || !isAlike) return null;
    steps.unshift(producer);
    value = producer.inputs[0]!;
  }
}

/** Its weights are its own: others would need them in the old order. */
function isPermutable(conv: Node, shuffle: Node): boolean {
  const [, weight, bias] = conv.inputs;
  const block = shuffle.int("blocksize", 0);
  const isOwn = (value: Value): boolean => value.constant?.dtype === "f32" && value.useCount === 1;
  if (!weight || !isOwn(weight) || (bias && !isOwn(bias))) return false;
  return conv.int("group", 1) === 1 && weight.constant!.dims[0]! % block ** 2 === 0;
}

/** For each channel of the new order its place in the old one: (channel, row, column) by rows, columns and channels. */
function channelsBySource(count: number, block: number): number[] {
  const channels = count / block ** 2;
  return Array.from({ length: count }, (_, at) => (at % channels) * block ** 2 + Math.floor(at / channels));
}

function inOrder(tensor: Tensor, from: readonly number[]): Tensor {
  const values = tensor.f32();
  const size = values.length / from.length;
  const made = new Float32Array(values.length);
  for (const [to, at] of from.entries()) made.set(values.subarray(at * size, (at + 1) * size), to * size);
  return Tensor.f32(tensor.dims, made);
}
