/** Whether this machine, now, can tell equal from different: a model against a second copy of itself. */
import type { Speedup } from "./speedup.js";

export interface NoiseCheck {
  /** Median of the model over median of its copy; 1 but for noise. */
  readonly ratio: number;
  readonly interval: readonly [low: number, high: number];
  /** Why no speedup should be judged here; null when all is well. */
  readonly noisy: string | null;
}

/** `limit` is the speedup that the candidates are judged by; the nearest one sets the margin. */
export function judgeNoise(copy: Speedup, candidates: readonly Speedup[], limit: number): NoiseCheck {
  const [low, high] = copy.speedupInterval;
  const margin = Math.min(...candidates.map(({ speedup }) => Math.abs(speedup - limit)));
  let noisy: string | null = null;
  if (low > 1 || high < 1) {
    noisy = "the baseline differs from a second copy of itself";
  } else if (candidates.length > 0 && high - low > margin / 2) {
    noisy = "the interval of the baseline against a second copy of itself is wider than half the margin that is judged";
  }
  return { ratio: copy.speedup, interval: [low, high], noisy };
}
