/** Integers of weights that several candidates have in common: ranges and placements differ from one to the next, weights do not. */
import type { Tensor } from "../ir/index.js";
import type { QuantizedWeight } from "./weights.js";

export class KeptIntegers {
  readonly #known = new Map<string, QuantizedWeight>();

  /** @param store where tensors go that are made: the same elements, elsewhere */
  constructor(readonly store: (tensor: Tensor) => Tensor = (tensor) => tensor) {}

  /**
   * Makes them once for each weight that lies in a file, which stays as it is; others may be anything next time.
   * @param form all that they depend on besides the weight
   * @returns scales of the caller's own
   */
  of(weight: Tensor, form: string, make: () => QuantizedWeight): QuantizedWeight {
    const key = weight.file && JSON.stringify([weight.file.path, weight.file.offset, weight.dims, form]);
    let quantized = key === null ? undefined : this.#known.get(key);
    if (!quantized) {
      const { integers, scales } = make();
      quantized = { integers: this.store(integers), scales };
      if (key !== null) this.#known.set(key, quantized);
    }
    return { ...quantized, scales: quantized.scales.slice() };
  }
}
