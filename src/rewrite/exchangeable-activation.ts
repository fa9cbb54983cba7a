/** An activation in front of a pool for the largest elements that may as well stand behind it. */
import { type Node, soleReader } from "../ir/index.js";
import { neverFalls } from "../ops/monotone.js";
import { readsOnlyFirst } from "./match.js";

/** That of a MaxPool or GlobalMaxPool: nobody else reads it, the pool gives nothing but the largest elements, and has some in each window. */
export function exchangeableActivation(pool: Node): Node | null {
  if (!(pool.is("MaxPool") || pool.is("GlobalMaxPool")) || mayMissAllData(pool) || !readsOnlyFirst(pool)) return null;
  const value = pool.inputs[0];
  const activation = value?.producer;
  const axes = pool.is("MaxPool") ? pool.ints("kernel_shape")?.length : value?.shape && value.shape.length - 2;
  if (!activation || soleReader(value) !== pool) return null;
  return neverFalls(activation, axes ?? Number.POSITIVE_INFINITY) ? activation : null;
}

/** With gaps between its elements a window may lie in the padding alone, and gives the least number there is. */
function mayMissAllData(pool: Node): boolean {
  const hasGaps = pool.ints("dilations")?.some((dilation) => dilation > 1) ?? false;
  const isPadded =
    (pool.ints("pads")?.some((pad) => pad !== 0) ?? false) ||
    pool.string("auto_pad", "NOTSET").startsWith("SAME") ||
    pool.int("ceil_mode", 0) !== 0;
  return hasGaps && isPadded;
}
