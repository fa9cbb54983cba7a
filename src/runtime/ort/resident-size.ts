/** How much memory processes hold. */
import { existsSync, readFileSync } from "node:fs";

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

/** Sums the peaks of processes that are alive at the same time, and keeps the largest sum. */
export class ResidentSum {
  readonly #alive = new Map<object, number>();
  #peak = 0;

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
    let sum = peakResidentBytes();
    for (const bytes of this.#alive.values()) sum += bytes;
    if (sum > this.#peak) this.#peak = sum;
  }
}
