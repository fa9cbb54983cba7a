/** How much memory processes hold. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const STATUS = "/proc/self/status";
const hasStatus = existsSync(STATUS);

/**
 * Largest resident size of this process so far. On Linux from VmHWM: `maxRSS` of
 * resource usage starts at what the parent held when it forked, which is not ours.
 */
export function peakResidentBytes(): number {
  if (hasStatus) {
    const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(STATUS, "latin1"));
    if (found) return Number(found[1]) * 1024;
  }
  return process.resourceUsage().maxRSS * 1024;
}

/** Linux forgets the peak where this is written to; elsewhere, or where that is forbidden, it is the one since the start. */
const [FORGETS, FORGET_PEAK] = ["/proc/self/clear_refs", "5"];
let canForget = existsSync(FORGETS);

/** Of this process, since it was asked last. */
function peakSinceAsked(): number {
  const peak = peakResidentBytes();
  if (canForget) {
    try {
      writeFileSync(FORGETS, FORGET_PEAK);
    } catch (thrown) {
      if (!(thrown instanceof Error && "code" in thrown)) throw thrown;
      canForget = false;
    }
  }
  return peak;
}

/** Sums the peaks of processes that are alive at the same time, and keeps the largest sum. */
export class ResidentSum {
  readonly #alive = new Map<object, number>();
  #peak = 0;

  /** What this process held before another one was there does not count beside that one. */
  started(): void {
    this.#note();
  }

  update(owner: object, peakBytes: number): void {
    this.#alive.set(owner, peakBytes);
    this.#note();
  }

  ended(owner: object): void {
    this.#note();
    this.#alive.delete(owner);
  }

  /** Largest sum so far, this process included. */
  peakBytes(): number {
    this.#note();
    return this.#peak;
  }

  #note(): void {
    let sum = peakSinceAsked();
    for (const bytes of this.#alive.values()) sum += bytes;
    if (sum > this.#peak) this.#peak = sum;
  }
}
