/**
 *   ReduceSum<axes=[1], keepdims=0>(Concat(Unsqueeze(a, 1), Unsqueeze(b, 1)))   =>  a + b
 *   ReduceSum<axes=[1]>(Reshape(x: [N,2*C,H,W], [N,2,C,H,W]))                   =>  the sum of the halves of x
 *   ReduceSum<axes=[1]>(x * s: [N,2,C,1,1])                                     =>  the same of products
 *
 * Branches that are added up (SKNet, ResNeSt). ONNX Runtime's CPU adds few numbers that lie far from each other one by one, 0.65 ns
 * an element of a batch of one, and a sum of two tensors takes 0.1 (1.32, Zen 5, 1 thread); and integers have a kernel for that alone.
 */
import { attr, elementCount, fromFront, type Shape, Tensor, type Value } from "../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../rewrite/index.js";
import { givenAxes, isKnown, isSameDim, producerOf, soleProducer } from "../../rewrite/match.js";
import { reducedAxes } from "./reduced-axes.js";

const MOST_PARTS = 4;
/** Elements behind the axis: fewer of them lie close enough. */
const LEAST_BEHIND = 64;

export const inlineShortSum = defineRewrite({
  name: "inline-short-sum",
  summary: "Add up a few parts of a tensor instead of reducing the axis along which they lie",
  numerics: "rounding",
  roots: ["ReduceSum"],
  // Of Split and Squeeze with inputs.
  minOpset: 13,
  onlyOnCpu: "its kernel for ReduceSum adds few numbers one by one",
  rewrite(sum, context) {
    const x = sum.inputs[0];
    const [axis, ...more] = reducedAxes(sum) ?? [];
    const shape = x?.shape;
    if (!x || !shape || axis === undefined || more.length > 0) return null;
    const at = shape.length + axis;
    const count = shape[at];
    const behind = elementCount(shape.slice(at + 1).filter(isKnown));
    if (!isKnown(count) || count < 2 || count > MOST_PARTS || behind < LEAST_BEHIND) return null;
    // Rows of a batch are reduced as fast as they are added up.
    const isWhole = elementCount(shape.slice(0, at).filter(isKnown)) === 1 || producerOf(x, "Concat", x.graph);
    if (!isWhole) return null;
    const [first, ...others] = new Parts(at, count, context).of(x);
    const total = others.reduce((all, part) => context.create("Add", [all, part]).output, first!);
    if (sum.int("keepdims", 1) === 0) return total;
    const axes = context.constant(`${sum.output.label}/axes`, Tensor.i64([1], [at]));
    return context.create("Unsqueeze", [total, axes], {}, { types: [sum.output.type] });
  },
});

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
