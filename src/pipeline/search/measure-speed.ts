/** How fast candidates are, as estimated before any is raced, and the fastest integers without the regions that do not pay. */
import { type Candidate, isInteger, isStatic } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
import { isSearched, type OptimizeConfig } from "../config.js";
import { leaveWhatDoesNotPay } from "../place/paying-regions.js";
import { measureSideBySide } from "../place/side-by-side.js";

/** Candidates that are looked at region by region. */
const MOST_REFINED = 2;

export interface SpeedRequest {
  /** Those that are better without some regions are added. */
  readonly candidates: Candidate[];
  /** Timed before, when nodes were placed. */
  readonly earlier: readonly Candidate[];
  readonly workshop: Workshop;
  readonly config: OptimizeConfig;
  /** Whether static integers are without such regions already. */
  readonly isPlaced: boolean;
}

/** @returns what was made on the way */
export async function measureSpeed(request: SpeedRequest): Promise<readonly Candidate[]> {
  const { candidates, workshop, config } = request;
  await measureSideBySide(candidates, workshop, config.runtime.benchMs / 2);
  workshop.reckonBesideOriginal(request.earlier);
  const { goal, mode } = config.quantize;
  // Weights in float again would be faster, and what nobody asked for.
  if (goal === "size" || mode === "weights" || !workshop.options.target.isMeasurable) return [];
  const all: Candidate[] = [];
  const integers = candidates.filter(isInteger).sort((a, b) => b.speedup! - a.speedup!);
  for (const candidate of integers.slice(0, isSearched(config) ? MOST_REFINED : 1)) {
    if (request.isPlaced && isStatic(candidate)) continue;
    const before = candidate.speedup!;
    const { best, made } = await leaveWhatDoesNotPay(candidate, workshop);
    meetHalfway(before, candidate, made, [...integers, ...all], workshop);
    if (candidate.sqnrDb !== null) await workshop.measureError(made.filter((each) => each === best));
    for (const each of made) if (each !== best) workshop.discard(each);
    all.push(...made);
    if (best !== candidate) candidates.push(best);
  }
  return all;
}

/**
 * A candidate that was profiled again beside those made of it has two speeds, and they differ by what else the machine did: neither is
 * known to be the better. All are told as if it had had their geometric mean both times, so that none is ahead by the moment alone.
 *
 * @param others profiled beside it before
 */
function meetHalfway(
  before: number,
  candidate: Candidate,
  made: readonly Candidate[],
  others: readonly Candidate[],
  workshop: Workshop,
): void {
  if (made.length === 0) return;
  const apart = Math.sqrt(candidate.speedup! / before);
  workshop.correctSpeed([candidate, ...made], 1 / apart);
  workshop.correctSpeed(
    others.filter((each) => each !== candidate),
    apart,
  );
}
