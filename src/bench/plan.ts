/**
 * How many runs a budget pays for and when to look at them. At most four looks, each
 * twice as far as the one before: every look is a chance to be wrong, and at 99 % each
 * four of them stay under 4 %.
 */

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
}

/** Fewer pairs than this say nothing about an interval; measured whatever the budget. A model alone has a middle sooner. */
const [LEAST_PAIRS, LEAST_ALONE] = [12, 3];
export const leastRuns = (models: number): number => (models === 1 ? LEAST_ALONE : LEAST_PAIRS);
/** Enough for p99.9. */
const mostRuns = 3200;
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
 * Two processes decide what is this far from the limit, a third is asked about everything else: the way memory
 * happens to lie in one of each has made 1.47 of a ratio.
 */
const CLEAR_MARGIN = 1.5;
/** What a quick look is at, at least: so long, or so many runs of a small model. */
const [quickMs, mostQuickRuns] = [300, 300];
const sliceMs = 4;
const mostSliceRuns = 32;

/**
 * @param remainingMs what is left of the budget
 * @param startMs what starting and warming up one process for each model took
 * @param perRunMs latency of each model
 * @param isQuick the first look comes after few runs, in several processes all the same: one alone can be a quarter off,
 *   and what two tell has to be clear where a third can be had soon
 */
export function planRuns(remainingMs: number, startMs: number, perRunMs: readonly number[], isQuick = false): Plan {
  const roundMs = perRunMs.reduce((sum, ms) => sum + ms, 0);
  // The first look needs several processes too, whatever share of its own short time they take.
  const quickly = startMs > SLOW_START_MS ? 2 : mostProcesses;
  const processes = isQuick ? quickly : 1 + worthwhileProcesses(remainingMs, startMs, mostProcesses - 1);
  const affordable = Math.floor((remainingMs * (1 - startingShare)) / roundMs);
  const least = leastRuns(perRunMs.length);
  const runs = Math.max(least, Math.min(mostRuns, affordable));
  const isEager = isQuick && processes === mostProcesses;
  const quickRuns = Math.max(least, Math.min(mostQuickRuns, Math.ceil(quickMs / roundMs)));
  // Two processes of three have the least number already.
  const soonest = isQuick ? Math.ceil(quickRuns * (isEager ? mostProcesses / 2 : 1)) : least;
  const parts = [8, 4, 2, 1].map((part) => Math.ceil(runs / part)).filter((look) => look >= soonest);
  if (isQuick && parts.length > 0) parts[0] = soonest;
  const looks = parts.length > 0 ? parts : [runs];
  // All runs of a small model are over long before its budget is: what is left pays for processes, in which such models differ most.
  const spareMs = affordable > mostRuns ? remainingMs - runs * roundMs - (processes - 1) * startMs : 0;
  const spare = Math.max(0, Math.floor(spareMs / startMs));
  const extra = isQuick ? 0 : Math.min(spare, Math.max(0, firstSpare - processes));
  const shareOf = shares(spare - extra, looks.length - 1);
  const stages = looks.flatMap((look, i): Stage[] => {
    const from = i === 0 ? 0 : looks[i - 1]!;
    const worthwhile = worthwhileProcesses((look - from) * roundMs, startMs, mostProcesses);
    const usual = i === 0 ? processes : Math.max(worthwhile, Math.min(mostProcesses, shareOf(i - 1)));
    const fresh = i === 0 ? processes + extra : Math.max(usual, Math.min(mostSpare, shareOf(i - 1)));
    const pieces = Math.max(1, fresh);
    return Array.from({ length: pieces }, (_, piece) => ({
      fresh: i === 0 ? piece > 0 : fresh > 0,
      // Those that are started in any case are spread over all of them.
      isSpare: piece > 0 && Math.floor((piece * usual) / pieces) === Math.floor(((piece - 1) * usual) / pieces),
      until: from + Math.ceil(((look - from) * (piece + 1)) / pieces),
      look: piece === pieces - 1 || (isEager && i === 0 && piece === 1),
      margin: piece === pieces - 1 ? 1 : CLEAR_MARGIN,
    }));
  });
  const sliceRuns = Math.floor(Math.min(mostSliceRuns, sliceMs / Math.max(...perRunMs), stages[0]!.until / 4));
  return { stages, sliceRuns: Math.max(1, sliceRuns) };
}

const worthwhileProcesses = (runningMs: number, startMs: number, most: number): number =>
  Math.min(most, Math.max(0, Math.floor((startingShare * runningMs) / startMs)));

/** How many of them each of `parts` gets. */
function shares(count: number, parts: number): (part: number) => number {
  const before = (part: number): number => Math.floor((count * part) / parts);
  return (part) => before(part + 1) - before(part);
}
