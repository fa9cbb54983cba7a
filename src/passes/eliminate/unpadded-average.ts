/**
 * AveragePool<count_include_pad=1, ceil_mode=1, dilations=[1,1]>(x)  =>  AveragePool<ceil_mode=1>(x)     without padding
 *
 * What lies beyond the tensor because the last window is rounded up is no padding, and is not counted
 * either way. Runtimes' integer kernels do count it when told to count padding (ONNX Runtime's gives
 * sums over windows that are mostly empty), and know of no dilations, not even of none. Without rounding
 * up the attribute says nothing that is not so, and stays.
 */
import { defineRewrite } from "../../rewrite/index.js";

export const eliminateUnpaddedCount = defineRewrite({
  name: "eliminate-unpadded-count",
  summary: "Remove what an AveragePool says of padding and dilations that it does not have",
  numerics: "rounding",
  roots: ["AveragePool"],
  rewrite(pool, { create, skip }) {
    const attributes = new Map(pool.attributes);
    const dilations = pool.ints("dilations");
    if (dilations?.every((each) => each === 1)) attributes.delete("dilations");
    if (pool.int("count_include_pad", 0) !== 0 && pool.int("ceil_mode", 0) === 1) {
      if (isPadded(pool.string("auto_pad", "NOTSET"), pool.ints("pads"))) {
        if (attributes.size === pool.attributes.size) return skip("padding is counted");
      } else attributes.delete("count_include_pad");
    }
    if (attributes.size === pool.attributes.size) return null;
    return create("AveragePool", pool.inputs, attributes, { like: pool });
  },
});

const isPadded = (autoPad: string, pads: readonly number[] | null): boolean =>
  autoPad !== "NOTSET" || (pads ?? []).some((amount) => amount !== 0);
