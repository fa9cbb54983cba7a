/**
 * Which nodes become static integers, decided before their ranges are: how fast integers are does
 * not depend on what they stand for, and ranges and corrections then fit the model that is built.
 */
import type { Candidate, Variant } from "./candidate.js";
import { leaveWhatDoesNotPay } from "./paying-regions.js";
import { bordersOf, MS_PER_CONVERTED_ELEMENT, savedMs, totalMs } from "./regions.js";
import type { Workshop } from "./workshop.js";

/** Nodes left in float, with the reason, and what the profile says of that. */
export type Placed = Pick<Candidate, "keptFloat" | "speedup" | "times" | "note">;

export interface Placements {
  /** The fastest first, and then one that is nearly as fast and may be more accurate. */
  readonly placed: readonly Placed[];
  /** What was built and timed on the way, without those placed; their files are gone. */
  readonly tried: readonly Candidate[];
}

/** Of the time of a run, what leaving the first region in float may cost, as estimated and as measured. */
const MOST_LOST = 0.05;

/** @returns null where the draft has no node to place */
export async function placeStatics(variant: Variant, workshop: Workshop): Promise<Placements | null> {
  const draft = workshop.make(variant);
  if (draft.built.forms.size === 0) {
    workshop.discard(draft);
    return null;
  }
  draft.note = "timed with quick ranges";
  await workshop.measureSpeed([draft], 0);
  const { best, made } = await leaveWhatDoesNotPay(draft, workshop);
  const all = [draft, ...made];
  const careful = await withFloatInput(best, workshop);
  if (careful) all.push(careful);
  for (const each of all) workshop.discard(each);
  const placed = careful ? [best, careful] : [best];
  if (best === draft) draft.note = "";
  return { placed, tried: all.filter((each) => !placed.includes(each)) };
}

/**
 * The inputs' own rounding is noise that all of the model computes with, and the first product that
 * reads them has few channels to average it over: leaving that in float often costs next to nothing.
 */
async function withFloatInput(candidate: Candidate, workshop: Workshop): Promise<Candidate | null> {
  const regions = workshop.regionsOf(candidate);
  const times = workshop.regionTimes(candidate, regions);
  if (!times || !candidate.times || regions.length < 2) return null;
  const inputs = new Set(workshop.model.graph.inputs.map(({ label }) => label));
  const borders = bordersOf(workshop.model, regions);
  const first = new Set(borders.flatMap(({ value, to }) => (to !== null && inputs.has(value) ? [to] : [])));
  if (first.size === 0 || first.size === regions.length) return null;
  const converted = borders.filter(({ from, to }) => from !== null && first.has(from) && to !== null && !first.has(to));
  const values = new Set(converted.map(({ value }) => value));
  const conversionMs =
    [...values].reduce((sum, value) => sum + workshop.elementsOf(value), 0) * MS_PER_CONVERTED_ELEMENT;
  const lostMs = [...first].reduce((sum, name) => sum + savedMs(times.get(name)!), conversionMs);
  if (lostMs > MOST_LOST * totalMs(candidate.times.own)) return null;
  const kept = new Map(candidate.keptFloat);
  for (const name of first) kept.set(name, "reads the inputs: in float it keeps the whole model more accurate");
  const careful = workshop.make(candidate.variant, kept);
  if (careful.built.forms.size === 0) return null;
  await workshop.measureSpeed([candidate, careful], 0);
  careful.note = "inputs and what reads them in float";
  return careful.speedup! >= candidate.speedup! * (1 - MOST_LOST) ? careful : null;
}
