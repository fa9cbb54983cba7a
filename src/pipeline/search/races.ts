/** Candidates that were timed in full so far, and what others have to be ahead of. */
import { type Candidate, estimateOf, isInteger } from "../candidates/candidate.js";
import type { Judge, Judged } from "./judge-candidate.js";
import { SAME_SPEED } from "./rank-candidates.js";

export class Races {
  readonly #raced: Judged[] = [];
  /** With what is the answer rather than they. */
  readonly #withdrawn = new Map<Judged, Candidate>();

  constructor(
    readonly judge: Pick<Judge, "race">,
    /** Whether one that meets its limits is as fast as what else there is. */
    readonly pays: (candidate: Candidate) => boolean,
  ) {}

  /**
   * @param isBrief whether there is an answer already, which this one may replace
   * @returns what was found out, where every limit is met
   */
  async race(candidate: Candidate, isBrief = false): Promise<Judged | null> {
    const judged = await this.judge.race(candidate, isBrief);
    this.#raced.push(judged);
    return isMet(judged) ? judged : null;
  }

  /** What met its limits, and is not the answer beside `rival`. */
  withdraw(judged: Judged, rival: Candidate): void {
    this.#withdrawn.set(judged, rival);
  }

  has(candidate: Candidate): boolean {
    return this.#raced.some((each) => each.candidate === candidate);
  }

  get last(): Judged | null {
    return this.#raced.at(-1) ?? null;
  }

  /** Of those that met their limits. */
  get fastest(): Judged | null {
    const best = fastestOf(this.#raced.filter((each) => this.#mayBeAnswer(each)));
    // Beside another answer than the one that they were withdrawn for they are what they are.
    const back = [...this.#withdrawn].flatMap(([judged, rival]) => (rival === best?.candidate ? [] : [judged]));
    return fastestOf(best ? [best, ...back] : back);
  }

  /** The fastest of those that met their limits, and of all where none did. */
  get best(): Judged | null {
    return this.fastest ?? fastestOf(this.#raced);
  }

  /** Whether one is the answer, unless a less accurate one with some regions in float is faster. */
  get hasWinner(): boolean {
    return this.#raced.some((each) => this.#mayBeAnswer(each) && this.pays(each.candidate));
  }

  #mayBeAnswer(judged: Judged): boolean {
    return isMet(judged) && !this.#withdrawn.has(judged);
  }

  /** As estimated, like those that it is compared with; as measured where its regions have no times to estimate by. */
  get leastToWin(): number {
    const met = this.fastest?.candidate;
    return (met && (estimateOf(met) ?? met.speedup)) ?? 0;
  }

  /** Tells of each that was raced for nothing why it is not the answer. */
  explain(winner: Candidate): void {
    for (const judged of this.#raced) {
      const { candidate, latency, ruling } = judged;
      if (candidate === winner || !latency) continue;
      const rival = this.#withdrawn.get(judged);
      const whyNot = rival ? whyWithdrawn(candidate, rival) : whyBehind(candidate, winner);
      const why = isMet(judged) ? whyNot : ruling.verdict.summary;
      candidate.note = candidate.note === "" ? why : `${candidate.note}; ${why}`;
    }
  }

  /** Whether it is so much faster that it may be ahead of what met its limits with some of its regions in float. */
  mayWin(candidate: Candidate): boolean {
    return estimateOf(candidate)! * (1 - SAME_SPEED) > this.leastToWin;
  }
}

/** Integers lose something, and a float model next to nothing: they are ahead of it where they gain this much more. */
export const LOSSLESS_MARGIN = 0.05;

const isMet = ({ ruling }: Pick<Judged, "ruling">): boolean => ruling.verdict.outcome === "met";

const speedOf = ({ candidate }: Judged): number =>
  (candidate.speedup ?? 0) * (isInteger(candidate) ? 1 : 1 + LOSSLESS_MARGIN);

const fastestOf = (raced: readonly Judged[]): Judged | null =>
  raced.reduce<Judged | null>((a, b) => (a && speedOf(a) >= speedOf(b) ? a : b), null);

const whyWithdrawn = (candidate: Candidate, rival: Candidate): string =>
  `${raceText(candidate)} in a race against ${raceText(rival)}: not faster by what it loses in accuracy`;

function whyBehind(candidate: Candidate, winner: Candidate): string {
  const own = raceText(candidate);
  if (!winner.interval) return `${own} in a race`;
  if (candidate.speedup! < winner.speedup!) return `slower in a race: ${own} against ${raceText(winner)}`;
  return isInteger(candidate) && !isInteger(winner)
    ? `${own} in a race against ${raceText(winner)}: integers have to be ${100 * LOSSLESS_MARGIN} % ahead of a float model`
    : `${own} in a race against ${raceText(winner)}`;
}

const raceText = ({ speedup, interval: [low, high] = [0, 0] }: Candidate): string =>
  `${speedup!.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)})`;
