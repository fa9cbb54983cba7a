/** Integer forms of weights, stored once however many nodes read them: tied weights stay tied. */
import { Tensor, type Value } from "../ir/index.js";

export interface StoredWeight {
  readonly integers: Value;
  /** As many scales as the weight has channels (or blocks), in the shape that was given. */
  readonly scale: Value;
  /** One zero point per scale; made when first asked for. */
  readonly zeroPoint: () => Value;
}

export interface WeightTensors {
  readonly integers: Tensor;
  readonly scales: Tensor;
  /** Absent: zeros. */
  readonly zeroPoints?: Tensor;
}

export class WeightStore {
  readonly #stored = new Map<Value, Map<string, Made>>();

  has(weight: Value): boolean {
    return this.#stored.has(weight);
  }

  /**
   * The stored form of a constant. New constants lie in the graph of the weight, where
   * every reader of it sees them too.
   * @param form says in which way the weight is quantized: the same words, the same integers
   */
  of(weight: Value, form: string, make: () => WeightTensors): StoredWeight {
    const forms = this.#stored.get(weight) ?? new Map<string, Made>();
    this.#stored.set(weight, forms);
    const known = forms.get(form);
    if (known) return known;
    const tensors = make();
    const { integers, scales, zeroPoints } = tensors;
    const { graph, label } = weight;
    // In other words, and the same all the same.
    const others = [...forms.values()];
    const sameIntegers = others.find((other) => isSame(other.tensors.integers, integers))?.integers;
    const sameScale = others.find((other) => isSame(other.tensors.scales, scales))?.scale;
    let zeroPoint: Value | null = null;
    const stored: Made = {
      tensors,
      integers: sameIntegers ?? graph.addConstant(`${label}/quantized`, integers),
      scale: sameScale ?? graph.addConstant(`${label}/scale`, scales),
      zeroPoint: () => {
        const { dims, elementCount } = scales;
        const points = zeroPoints ?? zerosOf(integers.dtype, dims, elementCount);
        zeroPoint ??= graph.addConstant(`${label}/zero_point`, points);
        return zeroPoint;
      },
    };
    forms.set(form, stored);
    return stored;
  }
}

interface Made extends StoredWeight {
  readonly tensors: WeightTensors;
}

const isSame = (one: Tensor, other: Tensor): boolean =>
  one.dtype === other.dtype &&
  one.dims.join() === other.dims.join() &&
  Buffer.compare(one.bytes(), other.bytes()) === 0;

const zerosOf = (dtype: Tensor["dtype"], dims: readonly number[], count: number): Tensor =>
  Tensor.ofArray(dtype, dims, dtype === "i32" ? new Int32Array(count) : new Int8Array(count));
