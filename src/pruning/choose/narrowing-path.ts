/**
 * From the whole net to ever narrower ones, those that miss least at the output for their speed. Errors of groups are
 * taken to add up: that of n units is what their readers miss, times what the output is known to miss for that.
 *
 * Nets are looked for in three ways, since none finds all: step by step, always the one that saves most for what it costs;
 * with a price on time, each group at its best width given the others; and all groups evenly. What another net exceeds in
 * both is left out.
 */
import type { ChannelGroup } from "../groups/channel-group.js";
import type { LatencyTable } from "./latency-table.js";
import type { Removal } from "./removal-order.js";
import { uniformWidths, type Widths, widthsOf } from "./widths.js";

export interface GroupError {
  readonly removal: Removal;
  /** Error at the output for each that the readers miss. */
  readonly scale: number;
}

export interface PathStep {
  readonly widths: Widths;
  /** As the table has it, the whole net over this one. */
  readonly speedup: number;
  readonly error: number;
}

/** Nobody needs less than this share of a group: what is known of the error says nothing there. */
const LEAST_SHARE = 0.1;
/** Prices of time, each so many times the one before. */
const PRICE_STEP = 1.25;
const UNIFORM_STEPS = 20;

/** The whole net first, then faster ones that miss more. */
export function narrowingPath(
  errors: ReadonlyMap<ChannelGroup, GroupError>,
  table: LatencyTable,
  block: number,
): readonly PathStep[] {
  const finder = new PathFinder(errors, table, block);
  const found = [...finder.stepByStep(), ...finder.atPrices(), ...finder.evenly()];
  const path: PathStep[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (const step of found.sort((a, b) => b.speedup - a.speedup || a.error - b.error)) {
    if (step.error >= least) continue;
    least = step.error;
    path.push(step);
  }
  return path.reverse();
}

class PathFinder {
  readonly groups: readonly ChannelGroup[];
  readonly #choices: ReadonlyMap<ChannelGroup, readonly number[]>;
  readonly #whole: Widths;
  readonly #wholeMs: number;

  constructor(
    readonly errors: ReadonlyMap<ChannelGroup, GroupError>,
    readonly table: LatencyTable,
    readonly block: number,
  ) {
    this.groups = [...errors.keys()];
    const isEnough = (group: ChannelGroup, width: number): boolean => width >= LEAST_SHARE * group.width;
    this.#choices = new Map(
      this.groups.map((group) => [group, widthsOf(group, block).filter((width) => isEnough(group, width))]),
    );
    this.#whole = new Map(this.groups.map((group) => [group, group.width]));
    this.#wholeMs = table.totalMs(this.#whole);
  }

  *stepByStep(): Generator<PathStep> {
    let widths = this.#whole;
    for (;;) {
      yield this.#step(widths);
      let best: { widths: Widths; worth: number } | null = null;
      for (const group of this.groups) {
        const at = widths.get(group)!;
        for (const width of this.#choices.get(group)!) {
          if (width >= at) continue;
          const next = new Map(widths).set(group, width);
          const saved = this.table.savedMs(group, widths, next);
          const missed = Math.max(this.#error(group, width) - this.#error(group, at), Number.EPSILON);
          if (saved > 0 && (best === null || saved / missed > best.worth))
            best = { widths: next, worth: saved / missed };
        }
      }
      if (best === null) return;
      widths = best.widths;
    }
  }

  *atPrices(): Generator<PathStep> {
    const { ms, error } = this.#narrowest();
    if (!(ms > 0) || !(error > 0)) return;
    const usual = error / ms;
    let widths = this.#whole;
    for (let price = usual * 1e-4; price < usual * 1e3; price *= PRICE_STEP) {
      widths = this.#settled(widths, price);
      yield this.#step(widths);
    }
  }

  *evenly(): Generator<PathStep> {
    for (let i = 1; i < UNIFORM_STEPS; i++) yield this.#step(uniformWidths(this.groups, i / UNIFORM_STEPS, this.block));
  }

  /** What all of it saves, and misses. */
  #narrowest(): { readonly ms: number; readonly error: number } {
    const least = new Map(this.groups.map((group) => [group, Math.min(...this.#choices.get(group)!)]));
    return { ms: this.#wholeMs - this.table.totalMs(least), error: this.#step(least).error };
  }

  /** Each group at the width that is best at this price, until none changes. */
  #settled(from: Widths, price: number): Widths {
    let widths = from;
    // Every change makes the sum of error and price less, so there is an end; this is far beyond it.
    for (let round = 0; round < 50; round++) {
      let isSettled = true;
      for (const group of this.groups) {
        const at = widths.get(group)!;
        let best = { widths, width: at, gain: 0 };
        for (const width of this.#choices.get(group)!) {
          if (width === at) continue;
          const next = new Map(widths).set(group, width);
          const gain =
            price * this.table.savedMs(group, widths, next) - this.#error(group, width) + this.#error(group, at);
          if (gain > best.gain + 1e-12) best = { widths: next, width, gain };
        }
        if (best.width === at) continue;
        widths = best.widths;
        isSettled = false;
      }
      if (isSettled) break;
    }
    return widths;
  }

  #error(group: ChannelGroup, width: number): number {
    const { removal, scale } = this.errors.get(group)!;
    return scale * removal.errors[group.width - width]!;
  }

  #step(widths: Widths): PathStep {
    const error = this.groups.reduce((sum, group) => sum + this.#error(group, widths.get(group)!), 0);
    return { widths, speedup: this.#wholeMs / this.table.totalMs(widths), error };
  }
}
