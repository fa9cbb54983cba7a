/** Which net to try next, between one that is too slow and one that is faster than it need be. */

export interface TimedNet {
  /** As the table has it. */
  readonly ms: number;
  /** As measured: how much faster than the whole net. */
  readonly speedup: number;
}

/**
 * The middle of both speeds, and the time that the table has for it: what the table's time is worth there, the two nets tell.
 *
 * @param least no net is wanted that is slower
 * @param apart nets of speeds closer than this factor are alike: null where nothing is left between
 */
export function halfWay(slow: TimedNet, fast: TimedNet, least: number, apart: number): TimedNet | null {
  const speedup = Math.max(least, Math.sqrt(slow.speedup * fast.speedup));
  if (slow.ms <= fast.ms || speedup <= slow.speedup || fast.speedup < speedup * apart) return null;
  // Where nets take time that no table knows of, theirs is a straight line in the table's all the same.
  const share = (1 / speedup - 1 / fast.speedup) / (1 / slow.speedup - 1 / fast.speedup);
  return { speedup, ms: fast.ms + share * (slow.ms - fast.ms) };
}
