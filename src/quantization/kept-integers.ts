/** Integers of weights that several candidates have in common: ranges and placements differ from one to the next, weights do not. */
import { collectPiledUp } from "../base/collect-garbage.js";
import type { Tensor } from "../ir/index.js";
import type { InputMoments } from "./inputs/round-in-view.js";
import type { QuantizedWeight } from "./weights.js";

/** Of weights as floats, which pile up while they are read one after the other. */
const COLLECT_BYTES = 40 << 20;

/** A weight that was rounded with its inputs in view, and what the bias has to make up for. */
export interface RoundedWeight extends QuantizedWeight {
  readonly shift: Float32Array | null;
}

interface KeptRounding extends RoundedWeight {
  /** The scales to start from. */
  readonly least: Float32Array;
}

export class KeptIntegers {
  #piledUp = 0;
  readonly #known = new Map<string, QuantizedWeight>();
  readonly #rearranged = new Map<string, Tensor>();
  readonly #rounded = new WeakMap<InputMoments, Map<string, KeptRounding>>();

  /** @param store where tensors go that are made: the same elements, elsewhere */
  constructor(readonly store: (tensor: Tensor) => Tensor = (tensor) => tensor) {}

  /**
   * Makes them once for each weight that lies in a file, which stays as it is; others may be anything next time.
   * @param form all that they depend on besides the weight
   * @returns scales of the caller's own
   */
  of(weight: Tensor, form: string, make: () => QuantizedWeight): QuantizedWeight {
    const key = keyOf(weight, form);
    let quantized = key === null ? undefined : this.#known.get(key);
    if (!quantized) {
      const { integers, scales } = make();
      quantized = { integers: this.store(integers), scales };
      if (key !== null) this.#known.set(key, quantized);
      this.#pileUp(weight);
    }
    return { ...quantized, scales: quantized.scales.slice() };
  }

  /**
   * A weight whose elements are in another order, and zeros among them, as floats.
   * @param form which order
   */
  rearranged(weight: Tensor, form: string, make: () => Tensor): Tensor {
    const key = keyOf(weight, form);
    const known = key === null ? undefined : this.#rearranged.get(key);
    if (known) return known;
    const tensor = this.store(make());
    if (key !== null) this.#rearranged.set(key, tensor);
    this.#pileUp(weight);
    return tensor;
  }

  /**
   * The same of those that are rounded with these moments in view, as long as the scales to start from are the same.
   * @param form all else that they depend on
   * @returns what several callers have: scales that none may raise
   */
  rounded(
    weight: Tensor,
    form: string,
    moments: InputMoments,
    least: Float32Array,
    make: () => RoundedWeight,
  ): RoundedWeight {
    const known = this.#rounded.get(moments) ?? new Map<string, KeptRounding>();
    this.#rounded.set(moments, known);
    const key = keyOf(weight, form);
    const kept = key === null ? undefined : known.get(key);
    if (kept?.least.length === least.length && kept.least.every((scale, i) => scale === least[i])) return kept;
    const { integers, ...rest } = make();
    const rounded = { ...rest, integers: this.store(integers), least: least.slice() };
    if (key !== null) known.set(key, rounded);
    this.#pileUp(weight);
    return rounded;
  }

  #pileUp(weight: Tensor): void {
    this.#piledUp += weight.byteLength;
    if (this.#piledUp <= COLLECT_BYTES) return;
    collectPiledUp(COLLECT_BYTES / 2);
    this.#piledUp = 0;
  }
}

/** null of what lies in memory. */
const keyOf = ({ file, dims }: Tensor, form: string): string | null =>
  file && JSON.stringify([file.path, file.offset, dims, form]);
