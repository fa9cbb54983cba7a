/** Integers of weights that several candidates have in common: ranges and placements differ from one to the next, weights do not. */
import { collectGarbage } from "../base/collect-garbage.js";
import type { Tensor } from "../ir/index.js";
import type { QuantizedWeight } from "./weights.js";

/** Of weights as floats, which pile up while they are read one after the other. */
const COLLECT_BYTES = 16 << 20;

export class KeptIntegers {
  #piledUp = 0;
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
      this.#piledUp += weight.byteLength;
      if (this.#piledUp > COLLECT_BYTES) {
        collectGarbage();
        this.#piledUp = 0;
      }
    }
    return { ...quantized, scales: quantized.scales.slice() };
  }
}
