/**
 * Conv(x, V, a) + Conv(x, W, b)  =>  Conv(x, V + W, a + b)
 *
 * where the window of the one contains that of the other, which is filled up with zeros:
 * the branches of RepVGG (3x3, 1x1 and a BatchNormalization of x itself), MobileOne and
 * asymmetric blocks. Also of Gemm and MatMul. The terms may be anywhere in a tree of Add
 * and Sum. x alone is no branch: a one in the middle of small weights leaves few of the
 * steps of int8 to the others.
 */
import { type Attribute, attr, elementCount, type Node, soleReader, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { tensorLike } from "../fuse/computed-tensor.js";
import { type Stencil, stencilOf, stencilOfArithmetic } from "./stencil.js";

const MOST_TERMS = 32;
const MOST_ELEMENTS = 1 << 24;

export const fuseParallelSum = defineRewrite({
  name: "fuse-parallel-sum",
  summary: "Make one Conv, Gemm or MatMul of several of the same input whose results are added",
  numerics: "rounding",
  roots: ["Add", "Sum"],
  minOpset: 8,
  rewrite(root, context) {
    const terms = termsOf(root);
    const stencils = terms.map((term) => ownNode(term, stencilOf));
    for (const [at, base] of stencils.entries()) {
      if (!base) continue;
      const branches = terms.map((term, i) =>
        i === at ? null : (stencils[i] ?? ownNode(term, (node) => stencilOfArithmetic(node, base, context.opset))),
      );
      const merged = branches.flatMap((branch, i) => (branch && fitsInto(branch, base) ? [{ branch, i }] : []));
      if (merged.length === 0) continue;
      const sum = mergedNode(
        base,
        merged.map(({ branch }) => branch),
        context,
      );
      if (typeof sum === "string") return context.skip(sum);
      const rest = terms.filter((_, i) => i !== at && merged.every((other) => other.i !== i));
      if (root.op === "Sum" && rest.length > 1) return context.create("Sum", [sum.output, ...rest]);
      return rest.reduce<Node>((total, term) => context.create("Add", [total.output, term]), sum);
    }
    return null;
  },
});

/** What a tree of sums adds up; nobody else sees what is in between. Below an Add are only Adds: a Sum of many is one node. */
function termsOf(root: Node): Value[] {
  const terms: Value[] = [];
  const open = [...root.inputs].reverse();
  for (let at = open.pop(); at; at = open.pop()) {
    const isSum = at.producer?.is("Add") || (root.is("Sum") && at.producer?.is("Sum"));
    const inner = isSum && soleReader(at) ? at.producer : null;
    if (inner && inner.graph === root.graph && terms.length + open.length < MOST_TERMS)
      open.push(...[...inner.inputs].reverse());
    else terms.push(at);
  }
  return terms;
}

/** Something about the node that makes a term, where it goes when the term goes. */
function ownNode<T>(term: Value, ask: (node: Node) => T | null): T | null {
  const node = soleReader(term) && term.producer?.graph === term.graph ? term.producer : null;
  return node && ask(node);
}

/** Whether the zeros of a branch's weight cover nothing that `base` reads, and the outputs have one size. */
function fitsInto(branch: Stencil, base: Stencil): boolean {
  if (branch.x !== base.x || branch.outputs !== base.outputs || branch.inputs !== base.inputs) return false;
  if (branch.window.length !== base.window.length || branch.group % base.group !== 0) return false;
  // A weight that others read would stay beside the new one.
  if (base.linear!.weight.useCount > 1 || (branch.linear?.weight.useCount ?? 1) > 1) return false;
  if (branch.linear && branch.linear.weightTensor.dtype !== base.linear!.weightTensor.dtype) return false;
  if (branch.linear && (branch.linear.node.op === "Conv") !== (base.linear!.node.op === "Conv")) return false;
  return branch.window.every((inner, axis) => {
    const outer = base.window[axis]!;
    if (inner.stride !== outer.stride || inner.slack !== outer.slack) return false;
    return Array.from({ length: inner.size }, (_, k) => placeIn(outer, inner.begin + k * inner.dilation)).every(
      (place) => place >= 0,
    );
  });
}

/** Which element of the window reads the input `offset` places off, -1 for none. */
function placeIn({ begin, dilation, size }: Stencil["window"][number], offset: number): number {
  const place = (offset - begin) / dilation;
  return Number.isInteger(place) && place >= 0 && place < size ? place : -1;
}

function mergedNode(base: Stencil, branches: readonly Stencil[], context: RewriteContext): Node | string {
  const { node, weightTensor, weight: old, biasLabel } = base.linear!;
  if (weightTensor.elementCount > MOST_ELEMENTS) return "the weights are too large to add here";
  const weight = base.weight().slice();
  const bias = base.bias.slice();
  for (const branch of branches) {
    branch.bias.forEach((value, m) => {
      bias[m]! += value;
    });
    const places = placesOf(branch, base);
    branch.weight().forEach((value, i) => {
      weight[places(i)]! += value;
    });
  }
  const { dtype, dims } = weightTensor;
  const isMatrix = base.window.length === 0;
  const data = isMatrix ? transposed(weight, base.outputs, base.inputs) : weight;
  const newWeight = tensorLike(dtype, isMatrix ? [base.inputs, base.outputs] : dims, data);
  const newBias = tensorLike(dtype, [base.outputs], bias);
  if (!newWeight || !newBias) return "the sum of the weights leaves the range of its type";
  const hasBias = bias.some((value) => value !== 0);
  const isPlain = base.x.shape?.length === 2;
  if (isMatrix && hasBias && !isPlain) return "a MatMul of more than two axes takes no addend";
  const inputs = [base.x, context.constant(old.label, newWeight)];
  if (hasBias) inputs.push(context.constant(biasLabel, newBias));
  const options = { like: node, types: [node.output.type] };
  if (isMatrix) return context.create(hasBias ? "Gemm" : "MatMul", inputs, {}, options);
  const attributes = new Map<string, Attribute>(node.attributes);
  if (!attributes.has("kernel_shape")) attributes.set("kernel_shape", attr.ints(dims.slice(2)));
  return context.create("Conv", inputs, attributes, options);
}

/** From an element of a branch's weight to the one of `base` for the same output, input and place. */
function placesOf(branch: Stencil, base: Stencil): (i: number) => number {
  const volume = elementCount(branch.window.map(({ size }) => size));
  const perGroup = branch.inputs / branch.group;
  const basePerGroup = base.inputs / base.group;
  return (i) => {
    const m = Math.floor(i / (volume * perGroup));
    const input = Math.floor(m / (branch.outputs / branch.group)) * perGroup + (Math.floor(i / volume) % perGroup);
    let place = m * basePerGroup + (input - Math.floor(m / (base.outputs / base.group)) * basePerGroup);
    let rest = volume;
    for (const [axis, { size, begin, dilation }] of branch.window.entries()) {
      rest /= size;
      const k = Math.floor(i / rest) % size;
      place = place * base.window[axis]!.size + placeIn(base.window[axis]!, begin + k * dilation);
    }
    return place;
  };
}

export function transposed(data: Float64Array, rows: number, columns: number): Float64Array {
  return Float64Array.from(data, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)]!);
}
