/**
 *   ReduceSum<axes=[1], keepdims=0>(Concat(Unsqueeze(a, 1), Unsqueeze(b, 1)))   =>  a + b
 *   ReduceSum<axes=[1]>(Reshape(x: [N,2*C,H,W], [N,2,C,H,W]))                   =>  the sum of the halves of x
 *   ReduceSum<axes=[1]>(x * s: [N,2,C,1,1])                                     =>  the same of products
 *   ReduceL2<axes=[1]>(x: [N,2,F,T])                                            =>  Sqrt(a * a + b * b) of the halves of x
 *
 * Branches that are added up (SKNet, ResNeSt), magnitudes of complex numbers. ONNX Runtime's CPU adds few numbers that lie far from
 * each other one by one, 0.65 ns an element of a batch of one, and a sum of two tensors takes 0.1 (1.32, Zen 5, 1 thread); and integers
 * have a kernel for that alone. Squares it adds up one by one everywhere: 2.7 to 5 ns a result, and 1 to 1.4 so (1.30, Zen 3, 1 thread).
 */
import { attr, elementCount, fromFront, type Node, type Shape, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { givenAxes, isKnown, isSameDim, producerOf, soleProducer } from "../../rewrite/match.js";
import { reducedAxes } from "./reduced-axes.js";

const MOST_PARTS = 4;
/** Elements behind the axis: fewer of them lie close enough. */
const LEAST_BEHIND = 64;
/** Of squares: for fewer, one node takes no longer than several. */
const LEAST_RESULTS = 1024;

export const inlineShortSum = defineRewrite({
  name: "inline-short-sum",
  summary: "Add up a few parts of a tensor, or their squares, instead of reducing the axis along which they lie",
  numerics: "rounding",
  roots: ["ReduceL2", "ReduceSum", "ReduceSumSquare"],
  // Of Split and Squeeze with inputs.
  minOpset: 13,
  onlyOnCpu: "its kernels for ReduceL2, ReduceSum and ReduceSumSquare add few numbers one by one",
  rewrite(sum, context) {
    const x = sum.inputs[0];
    const [axis, ...more] = reducedAxes(sum) ?? [];
    const shape = x?.shape;
    if (!x || !shape || axis === undefined || more.length > 0) return null;
    const at = shape.length + axis;
    const count = shape[at];
    if (!isKnown(count) || count < 2 || count > MOST_PARTS || !isSlow(sum, shape, at)) return null;
    const { create } = context;
    const parts = new Parts(at, count, context).of(x);
    const [first, ...others] = sum.is("ReduceSum") ? parts : parts.map((part) => create("Mul", [part, part]).output);
    const added = others.reduce((all, part) => create("Add", [all, part]).output, first!);
    const total = sum.is("ReduceL2") ? create("Sqrt", [added]).output : added;
    if (sum.int("keepdims", 1) === 0) return total;
    const axes = context.constant(`${sum.output.label}/axes`, Tensor.i64([1], [at]));
    return context.create("Unsqueeze", [total, axes], {}, { types: [sum.output.type] });
  },
});

/** Whether a kernel for sums takes longer along an axis than one for parts. */
function isSlow(sum: Node, shape: Shape, axis: number): boolean {
  const [front, behind] = [shape.slice(0, axis), shape.slice(axis + 1)].map((dims) =>
    elementCount(dims.filter(isKnown)),
  );
  // A length that is open is no short one, and a batch may be one.
  const isLong = shape.some((size, at) => at > 0 && !isKnown(size));
  if (!sum.is("ReduceSum")) return sum.output.dtype === "f32" && (isLong || front! * behind! >= LEAST_RESULTS);
  // Rows of a batch are reduced as fast as they are added up.
  return behind! >= LEAST_BEHIND && (front === 1 || producerOf(sum.inputs[0], "Concat", sum.graph) !== null);
}

/** A tensor as several without one of its axes. */
class Parts {
  constructor(
    readonly axis: number,
    readonly count: number,
    readonly context: RewriteContext,
  ) {}

  of(x: Value): Value[] {
    return this.#joined(x) ?? this.#viewed(x) ?? this.#multiplied(x) ?? this.#squeezed(x);
  }

  /** Of a Concat of what gets that axis for it. */
  #joined(x: Value): Value[] | null {
    const concat = producerOf(x, "Concat", x.graph);
    const rank = x.shape!.length;
    if (!concat || fromFront(concat.int("axis", 0), rank) !== this.axis) return null;
    const parts = concat.inputs.map((input) => {
      const unsqueeze = input && producerOf(input, "Unsqueeze", x.graph);
      const axes = unsqueeze && givenAxes(unsqueeze);
      return axes?.length === 1 && fromFront(axes[0]!, rank) === this.axis ? unsqueeze!.inputs[0]! : null;
    });
    return parts.every((part) => part !== null) ? parts : null;
  }

  /** Of a Reshape that does no more than take apart an axis. */
  #viewed(x: Value): Value[] | null {
    const source = producerOf(x, "Reshape", x.graph)?.inputs[0];
    const [own, shape] = [source?.shape, x.shape!];
    const size = shape[this.axis + 1];
    if (!source || own?.length !== shape.length - 1 || !isKnown(size) || own[this.axis] !== size * this.count)
      return null;
    const part = this.#without(shape);
    const isApart = own.every((dim, axis) => axis === this.axis || isSameDim(dim, part[axis]));
    return isApart ? this.#split(source, size, part) : null;
  }

  /** Of a product that nobody else reads. */
  #multiplied(x: Value): Value[] | null {
    const product = soleProducer(x, "Mul");
    const rank = x.shape!.length;
    if (!product?.inputs.every((input) => input?.shape?.length === rank && !input.constant)) return null;
    const [a, b] = product.inputs.map((input) => this.#factors(input!));
    if (!a || !b) return null;
    const { create } = this.context;
    return a.map((part, i) => create("Mul", [part, b[i]!], {}, { like: product }).output);
  }

  /** Parts of a factor, or the whole of it for each of them. */
  #factors(x: Value): Value[] | null {
    const size = x.shape![this.axis];
    if (size === this.count) return this.of(x);
    return size === 1 ? new Array<Value>(this.count).fill(this.#squeeze(x)) : null;
  }

  #squeezed(x: Value): Value[] {
    const one = x.shape!.map((dim, axis) => (axis === this.axis ? 1 : dim));
    return this.#split(x, 1, one).map((part) => this.#squeeze(part));
  }

  #split(x: Value, size: number, shape: Shape): Value[] {
    const { create, constant } = this.context;
    const sizes = constant(`${x.label}/sizes`, Tensor.i64([this.count], new Array<number>(this.count).fill(size)));
    const labels = Array.from({ length: this.count }, (_, i) => `${x.label}/part_${i}`);
    const types = labels.map(() => ({ dtype: x.dtype, shape }));
    return [...create("Split", [x, sizes], { axis: attr.int(this.axis) }, { labels, types }).outputs] as Value[];
  }

  #squeeze(x: Value): Value {
    const { create, constant } = this.context;
    const axes = constant(`${x.label}/axes`, Tensor.i64([1], [this.axis]));
    return create("Squeeze", [x, axes], {}, { types: [{ dtype: x.dtype, shape: this.#without(x.shape!) }] }).output;
  }

  #without(shape: Shape): Shape {
    return shape.filter((_, axis) => axis !== this.axis);
  }
}
