/**
 * Which nodes become static integers, decided before their ranges are: how fast integers are does
 * not depend on what they stand for, and ranges and corrections then fit the model that is built.
 */
import { nodesWithin } from "../../ir/index.js";
import type { Candidate, Plan, Variant } from "../candidates/candidate.js";
import {
  besideFloats,
  bordersOf,
  MS_PER_CONVERTED_ELEMENT,
  type RegionTime,
  savedMs,
  startsRegion,
} from "../candidates/regions.js";
import type { Workshop } from "../candidates/workshop.js";
import type { RegionFacts } from "../result.js";
import { whyApart, whyFloatInput, whyGate, whyNoGain, whySlowKernel } from "./float-reasons.js";
import { gateNodes } from "./gates.js";
import { leaveWhatDoesNotPay, withoutLosses } from "./paying-regions.js";

/** Nodes left in float, with the reason, and what the profile says of that. */
export type Placed = Pick<Candidate, "keptFloat" | "speedup" | "times" | "note" | "wider">;

export interface Placements {
  /**
   * The fastest first, and then those that are nearly as fast and may be more accurate, each with more in float; none where
   * `hopeless` says why.
   */
  readonly placed: readonly Placed[];
  /** Where no integers pay by the target's table, which needs no run to say so. */
  readonly hopeless?: Hopeless;
  /** What was built and timed on the way, without those placed; their files are gone. */
  readonly tried: readonly Candidate[];
}

/** What the table says of a model of which nothing pays. */
export interface Hopeless {
  /** Of all regions together: in float over as integers. */
  readonly speedup: number;
  /** All of them in float, with the reason. */
  readonly regions: readonly RegionFacts[];
}

export const whyHopeless = ({ speedup }: Hopeless): string =>
  `static integers pay nowhere in the model: by the table of kernel times, all nodes that could be would run at ${speedup.toFixed(2)}x of their speed`;

/** Of the time of a run, what leaving the first region in float may cost, as estimated and as measured. */
const MOST_LOST = 0.05;

/**
 * By the target's table of kernels where there is one, else by the runtime's profile.
 *
 * @param integers names of nodes that make sense as integers alone: placements with one of them in float are left out
 * @returns null where there is no node to place, or the fastest placement has one of `integers` in float
 */
export async function placeStatics(
  variant: Variant,
  workshop: Workshop,
  integers: ReadonlySet<string> = new Set(),
): Promise<Placements | null> {
  const isWhole = ({ built }: Plan): boolean => [...integers].every((name) => built.forms.has(name));
  const place = workshop.options.target.times ? placeByTable : placeByProfile;
  return place(variant, workshop, isWhole);
}

type IsWhole = (plan: Plan) => boolean;

const MOST_ROUNDS = 2;

function placeByTable(variant: Variant, workshop: Workshop, isWhole: IsWhole): Placements | null {
  const widest = workshop.plan(variant);
  if (widest.built.forms.size === 0) return null;
  const wide = withoutSlowNeighbours(widest, workshop);
  let best = wide;
  // With some regions in float, neighbours that were integers because of them are float too.
  for (let round = 0; round < MOST_ROUNDS && best.built.forms.size > 0; round++) {
    const next = workshop.plan(variant, withoutLosses(best, workshop));
    if (!(timeOf(next, workshop) < timeOf(best, workshop))) break;
    best = next;
  }
  if (!isWhole(best)) return null;
  if (best.built.forms.size === 0) {
    return { placed: [], tried: [], hopeless: hopelessOf(widest, workshop) };
  }
  const apart = withoutBeside(best, workshop, isWhole);
  const gated = withoutGates(apart ?? best, workshop, isWhole);
  const placed = [
    best,
    ...(apart ? [apart] : []),
    ...carefulPlans(apart ?? best, workshop, isWhole),
    ...(gated ? [gated] : []),
  ];
  return {
    placed: placed.map((plan): Placed => {
      const { floatMs, ownMs } = workshop.estimate(plan)!;
      const note =
        plan === best ? "" : plan === apart ? BESIDE_IN_FLOAT : plan === gated ? GATES_IN_FLOAT : MORE_IN_FLOAT;
      const speedup = floatMs / ownMs;
      const wider = { keptFloat: wide.keptFloat, gain: ownMs / timeOf(wide, workshop) };
      return { keptFloat: plan.keptFloat, speedup, note, ...(best !== wide && { wider }) };
    }),
    tried: [],
  };
}

/**
 * The same with neighbours in float whose integer kernels take longer than floats and all conversions for them (Softmax): the products
 * around them gain by themselves. All of them, or else those that the rest is faster without.
 */
function withoutSlowNeighbours(widest: Plan, workshop: Workshop): Plan {
  const slow = slowNeighbours(widest, workshop);
  if (slow.size === 0) return widest;
  const without = (plan: Plan, names: readonly string[]): Plan =>
    workshop.plan(plan.variant, new Map([...plan.keptFloat, ...names.map((name) => [name, slow.get(name)!] as const)]));
  const faster = (plan: Plan, than: Plan): boolean => timeOf(plan, workshop) < timeOf(than, workshop);
  const all = without(widest, [...slow.keys()]);
  if (faster(all, widest)) return all;
  let best = widest;
  for (const name of slow.keys()) {
    const next = without(best, [name]);
    if (faster(next, best)) best = next;
  }
  return best;
}

/** Why, by their names. */
function slowNeighbours(plan: Plan, workshop: Workshop): ReadonlyMap<string, string> {
  const { conversionMs } = workshop.options.target.times!;
  const nodes = [...nodesWithin(workshop.model.graph)].filter(({ name }) => plan.built.forms.has(name));
  const alone = nodes.map(({ name }) => ({ name, nodes: [name] }));
  const times = workshop.estimate(plan, alone)!.regions;
  const slow = new Map<string, string>();
  for (const node of nodes) {
    const time = times.get(node.name)!;
    let convertedMs = 0;
    for (const value of [...node.inputs, ...node.outputs])
      if (value && !value.constant) convertedMs += conversionMs(workshop.elementsOf(value.label), node, []);
    if (!startsRegion(node) && time.kernelMs > time.beforeMs + convertedMs)
      slow.set(node.name, whySlowKernel(time, convertedMs));
  }
  return slow;
}

/** Of the time of a run, what it may cost to convert nothing for neighbours alone: errors are measured with and without. */
const MOST_LOST_APART = 0.2;

/**
 * The same with all neighbours in float that something is converted for: a residual stream, a gate. Null where there are
 * none, or it takes too long.
 */
function withoutBeside(best: Plan, workshop: Workshop, isWhole: IsWhole): Plan | null {
  const kept = new Map(best.keptFloat);
  let plan = best;
  // Without one, what it made is float, and the next is beside it.
  for (;;) {
    const beside = besideFloats(workshop.model, new Set(plan.built.forms.keys())).filter(({ name }) => !kept.has(name));
    if (beside.length === 0) break;
    for (const { name } of beside) kept.set(name, whyApart);
    plan = workshop.plan(best.variant, kept);
  }
  const isNear = isAboutAsFast(plan, best, workshop, MOST_LOST_APART);
  return plan !== best && isNear && isWhole(plan) ? plan : null;
}

/** The same with gates in float; null where there are none, or it takes too long. */
function withoutGates(best: Plan, workshop: Workshop, isWhole: IsWhole): Plan | null {
  const gates = [...gateNodes(workshop.model)].filter(({ name }) => best.built.forms.get(name) === "static");
  if (gates.length === 0) return null;
  const kept = new Map([...best.keptFloat, ...gates.map(({ name }) => [name, whyGate] as const)]);
  const plan = workshop.plan(best.variant, kept);
  return isAboutAsFast(plan, best, workshop, MOST_LOST_APART) && isWhole(plan) ? plan : null;
}

/** Reasons are of the same times as the regions: those on the way to float, of fewer integers, had others. */
function hopelessOf(widest: Plan, workshop: Workshop): Hopeless {
  const regions = workshop.regionsOf(widest);
  const times = workshop.estimate(widest, regions)!.regions;
  const sum = (of: (time: RegionTime) => number): number =>
    [...times.values()].reduce((all, each) => all + of(each), 0);
  return {
    speedup: sum(({ beforeMs }) => beforeMs) / sum(({ kernelMs, conversionMs }) => kernelMs + conversionMs),
    regions: regions.map(({ name, nodes }) => {
      const time = times.get(name)!;
      const afterMs = time.kernelMs + time.conversionMs;
      const reason = whyNoGain(time, 0);
      return { region: name, nodes, form: "float", sqnrDb: null, beforeMs: time.beforeMs, afterMs, reason };
    }),
  };
}

/** By the table, in milliseconds. */
const timeOf = (plan: Plan, workshop: Workshop): number => workshop.ownMs(plan)!;

/** @param mostLost of the time of a run */
const isAboutAsFast = (plan: Plan, best: Plan, workshop: Workshop, mostLost: number): boolean =>
  plan.built.forms.size > 0 && timeOf(plan, workshop) * (1 - mostLost) <= timeOf(best, workshop);

/** What integers have to gain, of the time in float, where accuracy is to have its say. */
const WORTHWHILE = 0.15;
/** Regions behind the inputs that are put to float one more at a time. */
const MOST_STEPS = 3;

/**
 * Nearly as fast, each with more in float: where integers gain little, and from the inputs on, as far as that
 * costs little time. Noise that enters early goes through the whole model.
 */
function carefulPlans(best: Plan, workshop: Workshop, isWhole: IsWhole): Plan[] {
  const isNear = (plan: Plan): boolean => isAboutAsFast(plan, best, workshop, MOST_LOST);
  const wary = workshop.plan(best.variant, withoutLosses(best, workshop, -WORTHWHILE));
  const plans: Plan[] = [];
  const add = (plan: Plan): boolean => {
    const isNew = [best, ...plans].every((known) => known.built.forms.size > plan.built.forms.size);
    if (!isNew || !isNear(plan) || !isWhole(plan)) return false;
    plans.push(plan);
    return true;
  };
  let last = add(wary) ? wary : best;
  for (let step = 0; step < MOST_STEPS; step++) {
    const kept = inputsInFloat(last, workshop, byTable);
    if (!kept) break;
    const next = workshop.plan(best.variant, kept);
    if (!add(next)) break;
    last = next;
  }
  return plans;
}

async function placeByProfile(variant: Variant, workshop: Workshop, isWhole: IsWhole): Promise<Placements | null> {
  const draft = workshop.make(variant);
  if (draft.built.forms.size === 0) {
    workshop.discard(draft);
    return null;
  }
  draft.note = "timed with quick ranges";
  await workshop.measureSpeed([draft], 0);
  const { best, made } = await leaveWhatDoesNotPay(draft, workshop);
  const last = made.at(-1);
  const declined = last && last !== best ? last : null;
  const careful = isWhole(best) ? await floatFromInputsOn(best, declined, workshop, isWhole) : null;
  const all = [draft, ...made, ...(careful?.made ?? [])];
  for (const each of all) workshop.discard(each);
  if (!careful) return null;
  const placed = [best, ...careful.near];
  if (best === draft) draft.note = "";
  return { placed, tried: all.filter((each) => !placed.includes(each)) };
}

const BESIDE_IN_FLOAT = "neighbours beside what is float in float";

const GATES_IN_FLOAT = "what scales channels in float";

const MORE_IN_FLOAT = "more in float, from the inputs on and where integers gain little";

const FLOAT_INPUTS = "inputs and what reads them in float";

/**
 * Candidates nearly as fast, each with one more region behind the inputs in float, and all that were timed for it.
 *
 * @param declined the one that was slower than `best` when both were timed in one go: it is not made again
 */
async function floatFromInputsOn(
  best: Candidate,
  declined: Candidate | null,
  workshop: Workshop,
  isWhole: IsWhole,
): Promise<{ readonly near: readonly Candidate[]; readonly made: readonly Candidate[] }> {
  const isNear = (next: Candidate): boolean => next.speedup! >= best.speedup! * (1 - MOST_LOST);
  const isDeclinedNear = declined !== null && isNear(declined);
  const near: Candidate[] = [];
  const made: Candidate[] = [];
  for (let last = best; near.length < MOST_STEPS; last = near.at(-1)!) {
    const kept = inputsInFloat(last, workshop, roughly);
    if (!kept) break;
    const plan = workshop.plan(best.variant, kept);
    if (plan.built.forms.size === 0 || !isWhole(plan)) break;
    if (declined && sameNodes(kept, declined.keptFloat)) {
      if (!isDeclinedNear) break;
      declined.note = FLOAT_INPUTS;
      near.push(declined);
      continue;
    }
    const next = workshop.make(best.variant, kept);
    made.push(next);
    await workshop.measureSpeed([best, next], 0);
    next.note = FLOAT_INPUTS;
    if (!isNear(next)) break;
    near.push(next);
  }
  return { near, made };
}

const sameNodes = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a.keys()].every((name) => b.has(name));

/** Values that come of the inputs by nodes in float alone. */
function floatFromInputs({ built }: Plan, { model }: Workshop): string[] {
  const found = new Set(model.graph.inputs);
  for (const node of model.graph.nodes()) {
    if (built.forms.has(node.name) || node.bodies.length > 0) continue;
    const read = node.inputs.filter((value) => value !== null && value.constant === null);
    if (read.length > 0 && read.every((value) => found.has(value!))) {
      for (const value of node.outputs) if (value) found.add(value);
    }
  }
  return [...found].map(({ label }) => label);
}

/** What leaving a region in float may cost, by what is known before it is tried. */
interface Allowance {
  /** Of what is converted behind it then. */
  readonly msPerElement: number;
  /** Of the time of a run. */
  readonly mostLost: number;
}

const byTable: Allowance = { msPerElement: MS_PER_CONVERTED_ELEMENT, mostLost: MOST_LOST };
/** Where it is timed next: profiles tell too much of single kernels and conversions, so what they call a little too slow is tried. */
const roughly: Allowance = { msPerElement: 0, mostLost: 2 * MOST_LOST };

/**
 * The inputs' own rounding is noise that all of the model computes with, and the first product that
 * reads them has few channels to average it over: leaving that in float often costs next to nothing.
 *
 * @returns what stays float then; null where it costs more
 */
function inputsInFloat(
  candidate: Plan,
  workshop: Workshop,
  { msPerElement, mostLost }: Allowance,
): ReadonlyMap<string, string> | null {
  const regions = workshop.regionsOf(candidate);
  const times = workshop.regionTimes(candidate, regions);
  const ownMs = workshop.ownMs(candidate);
  if (!times || ownMs === null || regions.length < 2) return null;
  const inputs = new Set([
    ...workshop.model.graph.inputs.map(({ label }) => label),
    ...floatFromInputs(candidate, workshop),
  ]);
  const borders = bordersOf(workshop.model, regions);
  const first = new Set(borders.flatMap(({ value, to }) => (to !== null && inputs.has(value) ? [to] : [])));
  if (first.size === 0 || first.size === regions.length) return null;
  const converted = borders.filter(({ from, to }) => from !== null && first.has(from) && to !== null && !first.has(to));
  const values = new Set(converted.map(({ value }) => value));
  const conversionMs = [...values].reduce((sum, value) => sum + workshop.elementsOf(value), 0) * msPerElement;
  const lostMs = [...first].reduce((sum, name) => sum + savedMs(times.get(name)!), conversionMs);
  if (lostMs > mostLost * ownMs) return null;
  const kept = new Map(candidate.keptFloat);
  for (const name of first) kept.set(name, whyFloatInput(times.get(name)!));
  return kept;
}
