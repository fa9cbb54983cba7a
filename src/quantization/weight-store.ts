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
  readonly #stored = new Map<Value, Map<string, StoredWeight>>();

  /**
   * The stored form of a constant. New constants lie in the graph of the weight, where
   * every reader of it sees them too.
   * @param form says in which way the weight is quantized: the same words, the same integers
   */
  of(weight: Value, form: string, make: () => WeightTensors): StoredWeight {
    const forms = this.#stored.get(weight) ?? new Map<string, StoredWeight>();
    this.#stored.set(weight, forms);
    const known = forms.get(form);
    if (known) return known;
    const { integers, scales, zeroPoints } = make();
    const { graph, label } = weight;
    let zeroPoint: Value | null = null;
    const stored: StoredWeight = {
      integers: graph.addConstant(`${label}/quantized`, integers),
      scale: graph.addConstant(`${label}/scale`, scales),
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

const zerosOf = (dtype: Tensor["dtype"], dims: readonly number[], count: number): Tensor =>
  Tensor.ofArray(dtype, dims, dtype === "i32" ? new Int32Array(count) : new Int8Array(count));
