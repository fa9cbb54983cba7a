/**
 * Nodes that put integers in another order, between a QuantizeLinear and a DequantizeLinear. Channels are last meanwhile, as
 * ONNX Runtime's integer Conv has them: it removes the Transposes at both ends, and whole rows of channels are copied.
 */
import {
  type Attribute,
  attr,
  type Graph,
  isStatic,
  type Node,
  type Shape,
  Tensor,
  type TensorType,
  type Value,
} from "../ir/index.js";

/** A size that no axis has. */
const TO_THE_END = 2 ** 31 - 1;

export class IntegerMoves {
  readonly #graph: Graph;
  readonly #moved: TensorType;
  readonly #provenance: readonly string[];
  /** Integers as they are by now: channels last, and spatial axes before them. */
  #value: Value;

  /**
   * @param places [N, C, ...spatial], the rank and C known
   * @param name what nodes are named after
   * @param before nodes go in front of it; null: to the end
   */
  constructor(
    readonly places: Value,
    readonly name: string,
    readonly before: Node | null,
  ) {
    this.#graph = places.graph;
    this.#moved = { dtype: places.dtype, shape: null };
    this.#provenance = places.producer?.provenance ?? [];
    const axes = this.#axes;
    this.#value = this.#add("Transpose", "_last", [places], {
      perm: attr.ints([0, ...axes.map((axis) => axis + 1), 1]),
    });
  }

  /** Spatial ones, where channels are last. */
  get #axes(): readonly number[] {
    return this.places.shape!.slice(2).map((_, axis) => axis + 1);
  }

  #add(
    op: string,
    part: string,
    inputs: Value[],
    attributes: Record<string, Attribute> = {},
    type = this.#moved,
  ): Value {
    const name = `${this.name}/${op}${part}`;
    const outputs = [{ label: name, type }];
    return this.#graph.addNode({ op, name, inputs, attributes, outputs, provenance: this.#provenance }, this.before)
      .output;
  }

  #ints(part: string, values: readonly number[]): Value {
    return this.#graph.addConstant(`${this.name}/${part}`, Tensor.i64([values.length], values));
  }

  /**
   * [N, ...spatial, C], each spatial size so many times what it is now, and so many channels: computed in each run where one is not
   * known. No size is left to the Reshape, which cannot tell it of a batch of none.
   */
  sizes(times: readonly number[], channels: number): Value {
    const spatial: Shape = this.places.shape!.slice(2);
    if (isStatic(spatial))
      return this.#ints("sizes", [0, ...spatial.map((size, axis) => size * times[axis]!), channels]);
    const type = { dtype: "i64" as const, shape: [spatial.length + 2] };
    const own = this.#add("Shape", "", [this.#value], {}, type);
    const more = this.#add("Mul", "", [own, this.#ints("times", [1, ...times, channels])], {}, type);
    const from = [1, ...times.map(() => 1), Number(this.places.shape![1])];
    return this.#add("Div", "", [more, this.#ints("channels", from)], {}, type);
  }

  /** To sizes of which 0 is what is there. */
  reshapeTo(part: string, sizes: readonly number[]): void {
    this.reshape(part, this.#ints(`sizes${part}`, sizes));
  }

  reshape(part: string, sizes: Value): void {
    this.#value = this.#add("Reshape", part, [this.#value, sizes]);
  }

  /** One more axis, of one element. */
  unsqueeze(part: string, axis: number): void {
    this.#value = this.#add("Unsqueeze", part, [this.#value, this.#ints(`axis${part}`, [axis])]);
  }

  transpose(part: string, perm: readonly number[]): void {
    this.#value = this.#add("Transpose", part, [this.#value], { perm: attr.ints(perm) });
  }

  /** So many times itself along one axis. */
  repeat(part: string, times: number, axis: number): void {
    const copies = new Array<Value>(times).fill(this.#value);
    this.#value = this.#add("Concat", part, copies, { axis: attr.int(axis) });
  }

  /** Less by so many, before each spatial axis and behind it. */
  cut(before: readonly number[], behind: readonly number[]): void {
    const cut = this.#axes.filter((_, axis) => before[axis]! + behind[axis]! > 0);
    if (cut.length === 0) return;
    const starts = cut.map((axis) => before[axis - 1]!);
    const ends = cut.map((axis) => (behind[axis - 1]! > 0 ? -behind[axis - 1]! : TO_THE_END));
    const bounds = [this.#ints("starts", starts), this.#ints("ends", ends), this.#ints("axes", cut)];
    this.#value = this.#add("Slice", "", [this.#value, ...bounds]);
  }

  /** Channels behind the batch again. */
  end(shape: TensorType["shape"]): Value {
    const perm = { perm: attr.ints([0, this.#axes.length + 1, ...this.#axes]) };
    return this.#add("Transpose", "_back", [this.#value], perm, { dtype: this.places.dtype, shape });
  }
}
