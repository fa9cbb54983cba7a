/**
 * From the whole net to ever narrower ones, those that miss least at the output for their speed. Errors of groups are
 * taken to add up: that of n units is what their readers miss, times what the output is known to miss for that.
 *
 * Nets are looked for in three ways, since none finds all: step by step, always the one that saves most for what it costs;
 * with a price on time, each group at its best width given the others; and all groups evenly. What another net exceeds in
 * both is left out. Between those that are left, one for a speed that was asked for is made of them: groups are widened
 * for as long as there is time, and others narrowed where that pays for more than it costs.
 */
import { alignedWidths } from "../groups/aligned-widths.js";
import type { ChannelGroup } from "../groups/channel-group.js";
import type { LatencyTable } from "./latency-table.js";
import type { Removal } from "./removal-order.js";
import { uniformWidths, type Widths } from "./widths.js";

export interface GroupError {
  readonly removal: Removal;
  /** Error at the output for each that the readers miss. */
  readonly scale: number;
  /** Error at the output without the branch that passes the units on; null where there is none to take out. */
  readonly none: number | null;
}

export interface PathStep {
  readonly widths: Widths;
  /** As the table has it. */
  readonly ms: number;
  readonly error: number;
}

/** How much faster than the whole net one was when the two were raced. */
export interface RacedSpeed {
  readonly speedup: number;
  /** Standard deviation of its logarithm; 0 where nothing is in doubt. */
  readonly deviation: number;
}

interface RacedStep extends RacedSpeed {
  readonly ms: number;
}

interface Change {
  readonly widths: Widths;
  /** By how much less is missed. */
  readonly gain: number;
}

/** Nobody needs less than this share of a group: what is known of the error says nothing there. */
const LEAST_SHARE = 0.1;
/** Prices of time, each so many times the one before. */
const PRICE_STEP = 1.25;
const UNIFORM_STEPS = 20;

/** Nets as fast as is asked for, or faster, from which one that misses less is looked for. */
const STARTS = 3;
/** The same, where several different nets are wanted. */
const MORE_STARTS = 8;
/** What misses so much more by what is known may miss less in truth. */
const ALIKE = 1.5;
/** Changes of one net: each makes the error less, so there is an end; this is far beyond it. */
const MOST_CHANGES = 200;
/** Widths above its own that a group is tried at. */
const WIDER_TRIED = 2;

/** How far off the table is, once races have corrected it: the standard deviation of the logarithm of a speedup. */
const TABLE_DEVIATION = 0.08;
/** The same of a table that no race has corrected yet: one that is in doubt itself corrects little. */
const FIRST_DEVIATION = 0.3;

/** Overheads that are tried between the least and the most, in shares of the whole net and of the fastest. */
const OVERHEADS = 400;
const [LEAST_OVERHEAD, MOST_OVERHEAD] = [-3, 0.98];

export class NarrowingPath {
  /** The whole net first, then faster ones that miss more. */
  readonly steps: readonly PathStep[];
  readonly #finder: PathFinder;
  /** What the table has too much for every net; below nothing where nets take time that no node does. */
  #overheadMs = 0;
  /** By widths. */
  readonly #raced = new Map<string, RacedStep>();

  constructor(errors: ReadonlyMap<ChannelGroup, GroupError>, table: LatencyTable, block: number) {
    this.#finder = new PathFinder(errors, table, block);
    const found = [...this.#finder.stepByStep(), ...this.#finder.atPrices(), ...this.#finder.evenly()];
    const path: PathStep[] = [];
    let least = Number.POSITIVE_INFINITY;
    for (const step of found.sort((a, b) => a.ms - b.ms || a.error - b.error)) {
      if (step.error >= least) continue;
      least = step.error;
      path.push(step);
    }
    this.steps = path.reverse();
  }

  get fastest(): PathStep {
    return this.steps.at(-1)!;
  }

  /** The whole net over this one. */
  speedup({ ms }: PathStep): number {
    return (this.#finder.wholeMs - this.#overheadMs) / (ms - this.#overheadMs);
  }

  /** Takes in what the last race of a net has said: of all other nets more is known then. */
  note({ widths, ms }: PathStep, raced: RacedSpeed): void {
    this.#raced.set(keyOf(widths), { ms, ...raced });
    const wholeMs = this.#finder.wholeMs;
    const [from, to] = [LEAST_OVERHEAD * wholeMs, MOST_OVERHEAD * this.fastest.ms];
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i <= OVERHEADS; i++) {
      const overheadMs = from + ((to - from) * i) / OVERHEADS;
      let off = 0;
      for (const raced of this.#raced.values()) {
        const expected = (wholeMs - overheadMs) / (raced.ms - overheadMs);
        const doubt = TABLE_DEVIATION ** 2 + raced.deviation ** 2;
        off += Math.log(expected / raced.speedup) ** 2 / doubt;
        off += (Math.log((expected * raced.ms) / wholeMs) / FIRST_DEVIATION) ** 2 / this.#raced.size;
      }
      if (off < least) [least, this.#overheadMs] = [off, overheadMs];
    }
  }

  /**
   * How fast a net is by all that is known: its own race, as far as that is in no doubt, and what the table says since races
   * have corrected it. Short races of nets that take a tenth of a millisecond can be a quarter off.
   */
  believed(step: PathStep): number {
    const told = this.speedup(step);
    const raced = this.#raced.get(keyOf(step.widths));
    if (!raced) return told;
    const trust = TABLE_DEVIATION ** 2 / (TABLE_DEVIATION ** 2 + raced.deviation ** 2);
    return told * (raced.speedup / told) ** trust;
  }

  /** The net that misses least of those that are at least so fast; the fastest where none is. */
  at(speedup: number): PathStep {
    return this.#improved(this.#mostMs(speedup), STARTS)[0] ?? this.fastest;
  }

  /** Several such nets in order of what they miss, its neighbours among them: what is known of errors is not exact. */
  severalAt(speedup: number): readonly PathStep[] {
    return this.severalWithin(this.#mostMs(speedup));
  }

  /** The same of those that take no more by the table. */
  severalWithin(mostMs: number): readonly PathStep[] {
    const [best, ...others] = this.#improved(mostMs, MORE_STARTS);
    if (!best) return [this.fastest];
    const near = this.#finder.neighbours(best.widths, mostMs);
    return distinct([best, ...others, ...near]).filter(({ error }) => error <= ALIKE * best.error);
  }

  #mostMs(speedup: number): number {
    return this.#overheadMs + (this.#finder.wholeMs - this.#overheadMs) / speedup;
  }

  /** The one that misses least first. */
  #improved(mostMs: number, starts: number): readonly PathStep[] {
    const from = this.steps.filter(({ ms }) => ms <= mostMs).slice(0, starts);
    return distinct(from.map(({ widths }) => this.#finder.improved(widths, mostMs)));
  }
}

const keyOf = (widths: Widths): string => [...widths.values()].join();

/** The one that misses least first. */
function distinct(steps: readonly PathStep[]): readonly PathStep[] {
  const byWidths = new Map(steps.map((step) => [keyOf(step.widths), step]));
  return [...byWidths.values()].sort((a, b) => a.error - b.error);
}

class PathFinder {
  readonly groups: readonly ChannelGroup[];
  readonly #choices: ReadonlyMap<ChannelGroup, readonly number[]>;
  readonly #whole: Widths;
  readonly wholeMs: number;

  constructor(
    readonly errors: ReadonlyMap<ChannelGroup, GroupError>,
    readonly table: LatencyTable,
    readonly block: number,
  ) {
    this.groups = [...errors.keys()];
    const isEnough = (group: ChannelGroup, width: number): boolean => width >= LEAST_SHARE * group.width;
    this.#choices = new Map(
      this.groups.map((group) => {
        const widths = alignedWidths(group, block).filter((width) => isEnough(group, width));
        return [group, errors.get(group)!.none === null ? widths : [...widths, 0]];
      }),
    );
    this.#whole = new Map(this.groups.map((group) => [group, group.width]));
    this.wholeMs = table.totalMs(this.#whole);
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

  /** Groups widened and traded for as long as the net is so fast and misses less. */
  improved(from: Widths, mostMs: number): PathStep {
    let widths = from;
    for (let i = 0; i < MOST_CHANGES; i++) {
      let best: Change | null = null;
      for (const change of this.#changes(widths, mostMs - this.table.totalMs(widths)))
        if (change.gain > (best?.gain ?? Number.EPSILON)) best = change;
      if (best === null) break;
      widths = best.widths;
    }
    return this.#step(widths);
  }

  /** All nets that are one change away and as fast. */
  neighbours(widths: Widths, mostMs: number): readonly PathStep[] {
    const spareMs = mostMs - this.table.totalMs(widths);
    return [...this.#changes(widths, spareMs)].map((change) => this.#step(change.widths));
  }

  /** One group wider, and another one narrower where that takes more time than is left. */
  *#changes(widths: Widths, spareMs: number): Generator<Change> {
    for (const group of this.groups) {
      const at = widths.get(group)!;
      const wider = this.#choices.get(group)!.filter((width) => width > at);
      for (const width of wider.slice(-WIDER_TRIED)) {
        const next = new Map(widths).set(group, width);
        const gain = this.#error(group, at) - this.#error(group, width);
        const missingMs = -this.table.savedMs(group, widths, next) - spareMs;
        if (missingMs <= 0) yield { widths: next, gain };
        else for (const traded of this.#paying(next, group, missingMs)) yield { ...traded, gain: gain + traded.gain };
      }
    }
  }

  /** For each other group the widest net in which it pays for that much time. */
  *#paying(widths: Widths, wider: ChannelGroup, missingMs: number): Generator<Change> {
    for (const group of this.groups) {
      if (group === wider) continue;
      const at = widths.get(group)!;
      for (const width of this.#choices.get(group)!) {
        if (width >= at) continue;
        const next = new Map(widths).set(group, width);
        if (this.table.savedMs(group, widths, next) < missingMs) continue;
        yield { widths: next, gain: this.#error(group, at) - this.#error(group, width) };
        break;
      }
    }
  }

  /** What all of it saves, and misses. */
  #narrowest(): { readonly ms: number; readonly error: number } {
    const least = new Map(this.groups.map((group) => [group, Math.min(...this.#choices.get(group)!)]));
    return { ms: this.wholeMs - this.table.totalMs(least), error: this.#step(least).error };
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
    const { removal, scale, none } = this.errors.get(group)!;
    return width === 0 ? none! : scale * removal.errors[group.width - width]!;
  }

  #step(widths: Widths): PathStep {
    const error = this.groups.reduce((sum, group) => sum + this.#error(group, widths.get(group)!), 0);
    return { widths, ms: this.table.totalMs(widths), error };
  }
}
