/** Writes formulas into a graph: one call per operator, labels made up. All values have sizes that are known. */
import { type Attribute, elementCount, type Graph, isStatic, type Node, Tensor, type Value } from "../../ir/index.js";

type Attributes = Readonly<Record<string, Attribute>>;

export class Formula {
  readonly #constants = new Map<string, Value>();
  #count = 0;

  constructor(
    readonly graph: Graph,
    /** Before every label, so that none is that of the model. */
    readonly prefix: string,
  ) {}

  op(op: string, inputs: readonly (Value | null)[], attributes: Attributes = {}): Value {
    return this.node(op, inputs, attributes, 1).output;
  }

  node(op: string, inputs: readonly (Value | null)[], attributes: Attributes, outputs: number): Node {
    const name = `${this.prefix}${op}_${this.#count++}`;
    const labels = Array.from({ length: outputs }, (_, i) => ({ label: `${name}:${i}` }));
    return this.graph.addNode({ op, name, inputs, attributes, outputs: labels });
  }

  scalar(value: number): Value {
    return this.#constant(`${value}`, () => Tensor.scalar("f32", value));
  }

  integers(values: readonly number[]): Value {
    return this.#constant(`[${values.join(",")}]`, () => Tensor.i64([values.length], values));
  }

  tensor(tensor: Tensor): Value {
    return this.graph.addConstant(`${this.prefix}constant_${this.#count++}`, tensor);
  }

  #constant(key: string, make: () => Tensor): Value {
    let value = this.#constants.get(key);
    if (!value) {
      value = this.tensor(make());
      this.#constants.set(key, value);
    }
    return value;
  }

  add = (a: Value, b: Value): Value => this.op("Add", [a, b]);
  sub = (a: Value, b: Value): Value => this.op("Sub", [a, b]);
  mul = (a: Value, b: Value): Value => this.op("Mul", [a, b]);
  div = (a: Value, b: Value): Value => this.op("Div", [a, b]);
  times = (a: Value, factor: number): Value => (factor === 1 ? a : this.mul(a, this.scalar(factor)));
  square = (a: Value): Value => this.mul(a, a);
  where = (condition: Value, a: Value, b: Value): Value => this.op("Where", [condition, a, b]);

  /** Sum over axes, which stay with size 1 unless told otherwise. No axes: as it is. */
  sum(value: Value, axes: readonly number[], keep = true): Value {
    if (axes.length === 0) return value;
    return this.op("ReduceSum", [value, this.integers(axes)], { keepdims: { type: "int", value: keep ? 1n : 0n } });
  }

  reshape(value: Value, dims: readonly number[]): Value {
    return this.op("Reshape", [value, this.integers(dims)]);
  }

  transpose(value: Value, perm: readonly number[]): Value {
    if (perm.every((axis, i) => axis === i)) return value;
    return this.op("Transpose", [value], { perm: { type: "ints", value: perm.map(BigInt) } });
  }

  expand(value: Value, dims: readonly number[]): Value {
    return this.op("Expand", [value, this.integers(dims)]);
  }

  slice(
    value: Value,
    starts: readonly number[],
    ends: readonly number[],
    axes: readonly number[],
    steps?: readonly number[],
  ): Value {
    const bounds = [starts, ends, axes, ...(steps ? [steps] : [])].map((each) => this.integers(each));
    return this.op("Slice", [value, ...bounds]);
  }

  zeros(dims: readonly number[]): Value {
    return this.tensor(Tensor.f32(dims, new Float32Array(elementCount(dims))));
  }
}

/** Why no gradient passes a node; thrown by rules, caught by `backpropagate`. */
export class NoGradient extends Error {}

/** The sizes of a value of the forward graph. Throws NoGradient where one is open. */
export function dimsOf(value: Value): readonly number[] {
  const { shape } = value;
  if (!isStatic(shape)) throw new NoGradient(`the sizes of ${value.label} are not known`);
  return shape;
}
