/**
 * How many runs a budget pays for and when to look at them. At most four looks, each
 * twice as far as the one before: every look is a chance to be wrong, and at 99 % each
 * four of them stay under 4 %. Where a verdict is wanted soon, the first comes sooner than that, and where
 * processes start fast two more come before it, at one and two processes of each model, which decide only
 * what is clear of the limit by CLEAR_MARGINS.
 */
import { leastCountFor } from "../base/statistics.js";

export interface Plan {
  readonly stages: readonly Stage[];
  /** Runs of one model before it is the next one's turn. */
  readonly sliceRuns: number;
}

export interface Stage {
  /** Begins with fresh processes. */
  readonly fresh: boolean;
  /** Fresh ones are worth their time only where processes differ so much that the interval is wide for it. */
  readonly isSpare: boolean;
  /** Runs of each model by its end. */
  readonly until: number;
  /** Whether the intervals are looked at then. */
  readonly look: boolean;
  /** Such a look decides only what is clear of the limit by this factor; 1 where any interval beside it does. */
  readonly margin: number;
  /** And only where runs are alike: what depends on the moment, other load, one process alone would take for its own speed. */
  readonly isCalm: boolean;
}

/** Fewer pairs than this leave an interval too wide for what is near a limit; measured whatever the budget. A model alone has a middle sooner. */
const [LEAST_PAIRS, LEAST_ALONE] = [12, 3];
export const leastRuns = (models: number): number => (models === 1 ? LEAST_ALONE : LEAST_PAIRS);
/** Enough where the interval they leave, however wide, is far from the limit. */
export const FEWEST_PAIRS = 8;
/** Of each model, whatever the budget; enough to show p99.9. */
const USUAL_MOST_RUNS = 3200;
/** Neighbouring runs depend on each other: so many may say as much as one. */
const RUNS_LIKE_ONE = 10;
/** Between two looks. */
const mostProcesses = 3;
/** The same where running takes next to no time: what such models differ by from process to process, only processes tell. */
const mostSpare = 16;
/** Before the first look then: what three of them say of how much they differ is chance. */
const firstSpare = 5;
/** Of the time spent running, what starting further processes may cost on top. */
const startingShare = 0.3;
/** Of processes for all models together: then two of each have to do for a quick look. */
const SLOW_START_MS = 1000;
/**
 * One process of each model decides what is farthest from the limit, two what is far from it, and a third is asked about
 * everything else: the way memory happens to lie in one of each has made 1.47 of a ratio.
 */
const CLEAR_MARGINS = [1.75, 1.5];
/** What a quick look is at, at least: so long, or so many runs of a small model. */
const [quickMs, mostQuickRuns] = [300, 300];
const sliceMs = 4;
const mostSliceRuns = 32;

export interface PlanOptions {
  /**
   * The first look comes after few runs. One process of each can be a quarter off, and two less: what they tell has to be far
   * from the limit where a third can be had soon.
   */
  readonly isQuick?: boolean;
  /** The farthest quantile that has a limit, 0.999 for p99.9: its upper bound takes more runs than it takes to show it. */
  readonly tail?: number;
}

/** Processes that a look begins with: those in any case, and up to so many where processes differ. */
interface Starts {
  readonly surely: number;
  readonly most: number;
}

/**
 * @param remainingMs what is left of the budget
 * @param startMs what starting and warming up one process for each model took
 * @param perRunMs latency of each model
 */
export function planRuns(
  remainingMs: number,
  startMs: number,
  perRunMs: readonly number[],
  { isQuick = false, tail = 0 }: PlanOptions = {},
): Plan {
  const roundMs = perRunMs.reduce((sum, ms) => sum + ms, 0);
  // The first look needs several processes too, whatever share of its own short time they take.
  const quickly = startMs > SLOW_START_MS ? 2 : mostProcesses;
  const processes = isQuick ? quickly : 1 + worthwhileProcesses(remainingMs, startMs, mostProcesses - 1);
  const affordable = Math.floor((remainingMs * (1 - startingShare)) / roundMs);
  const least = leastRuns(perRunMs.length);
  const mostRuns = Math.max(USUAL_MOST_RUNS, tail > 0 ? RUNS_LIKE_ONE * leastCountFor(tail) : 0);
  const isEager = isQuick && processes === mostProcesses;
  const firstLook = isQuick ? quickLook(least, roundMs, isEager) : least;
  // What is planned beyond the budget is not run: it ends a race that has the least number of runs.
  const runs = Math.max(isEager ? firstLook : least, Math.min(mostRuns, affordable));
  const looks = looksAt(runs, firstLook, isQuick);
  // All runs of a small model are over long before its budget is: what is left pays for processes, in which such models differ most.
  const spareMs = affordable > mostRuns ? remainingMs - runs * roundMs - (processes - 1) * startMs : 0;
  const spare = Math.max(0, Math.floor(spareMs / startMs));
  const first = {
    surely: processes,
    most: isQuick ? processes : Math.min(Math.max(processes, firstSpare), processes + spare),
  };
  const later = spread(spare - (first.most - first.surely), looks.length - 1).map((share, i): Starts => {
    const worthwhile = worthwhileProcesses((looks[i + 1]! - looks[i]!) * roundMs, startMs, mostProcesses);
    const surely = Math.max(worthwhile, Math.min(mostProcesses, share));
    return { surely, most: Math.max(surely, Math.min(mostSpare, share)) };
  });
  const stages = [first, ...later].flatMap((starts, i) =>
    stagesOf(starts, looks[i - 1] ?? 0, looks[i]!, isEager && i === 0),
  );
  const sliceRuns = Math.floor(Math.min(mostSliceRuns, sliceMs / Math.max(...perRunMs), stages[0]!.until / 4));
  return { stages, sliceRuns: Math.max(1, sliceRuns) };
}

/** Runs by the first look of a quick race. Two processes of three have the least number already. */
function quickLook(least: number, roundMs: number, isEager: boolean): number {
  const runs = Math.max(least, Math.min(mostQuickRuns, Math.ceil(quickMs / roundMs)));
  return Math.ceil(runs * (isEager ? mostProcesses / 2 : 1));
}

/** Runs by each look; the first after no fewer than `soonest`, and no later where it is `soon`. */
function looksAt(runs: number, soonest: number, soon: boolean): readonly number[] {
  const parts = [8, 4, 2, 1].map((part) => Math.ceil(runs / part)).filter((look) => look >= soonest);
  if (parts.length === 0) return [runs];
  return soon ? [soonest, ...parts.slice(1)] : parts;
}

/** The processes between two looks, each with a like part of the runs. The first of all is there before anything starts. */
function stagesOf({ surely, most }: Starts, from: number, until: number, isEager: boolean): Stage[] {
  const pieces = Math.max(1, most);
  const isFirst = from === 0;
  return Array.from({ length: pieces }, (_, piece) => {
    const isLast = piece === pieces - 1;
    const share = Math.ceil(((until - from) * (piece + 1)) / pieces);
    return {
      fresh: isFirst ? piece > 0 : most > 0,
      // Those that are started in any case are spread over all of them.
      isSpare: piece > 0 && Math.floor((piece * surely) / pieces) === Math.floor(((piece - 1) * surely) / pieces),
      until: from + (isEager ? Math.max(FEWEST_PAIRS, share) : share),
      look: isLast || isEager,
      margin: isLast || !isEager ? 1 : CLEAR_MARGINS[piece]!,
      isCalm: isEager && piece === 0,
    };
  });
}

const worthwhileProcesses = (runningMs: number, startMs: number, most: number): number =>
  Math.min(most, Math.max(0, Math.floor((startingShare * runningMs) / startMs)));

/** `count` of them in so many like parts. */
function spread(count: number, parts: number): readonly number[] {
  const before = (part: number): number => Math.floor((count * part) / parts);
  return Array.from({ length: parts }, (_, part) => before(part + 1) - before(part));
}
