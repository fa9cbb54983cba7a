/**
 * Dynamic integers beside a draft of static ones, where there is no limit that would tell which errors are too large. Static
 * ones are faster as a rule; where their errors are far larger, and they are not far faster, nobody would want them, and the
 * long way to good ones is saved.
 */
import { type Recipe, staticRecipe } from "../../quantization/recipe.js";
import { widestPlacement } from "../calibrate/calibration.js";
import type { Candidate } from "../candidates/candidate.js";
import type { Wanted, Workshop } from "../candidates/workshop.js";
import { isSearched } from "../config.js";
import { dynamicInstead, withDynamic } from "./dynamic-instead.js";
import type { CandidatesRequest } from "./make-candidates.js";
import { MOST_SPEED_FOR_ACCURACY } from "./rank-candidates.js";
import { withLinesFor } from "./with-lines-for.js";
import { ENOUGH_DB } from "./worth-its-time.js";

/** Twice the error: more than corrections mend, and than some speed is worth. */
const FAR_DB = 6;
/** Of a product's time in float, what it takes as dynamic integers at best. */
const DYNAMIC_SHARE = 1 / 3;
/** What evening out channels must gain: it takes a product for each of their elements, and was told by the noise of single products. */
const WORTH_SMOOTHING_DB = 1;

/** Where static integers could take so many times as many nodes, dynamic ones are of the few that are left, ... */
const FEW = 4;
/** ... unless these take this share of the time, and a limit may be out of reach of static ones, or most of it. */
const MUCH = 0.5;

/**
 * @param dynamics names of the nodes that could have dynamic integers
 * @param statics how many could have static ones
 */
export const areWorthATry = (
  dynamics: readonly string[],
  statics: number,
  { workshop, config }: Pick<CandidatesRequest, "workshop" | "config">,
): boolean =>
  dynamics.length > 0 &&
  (FEW * dynamics.length >= statics || (workshop.floatShare(dynamics) ?? 0) >= (isSearched(config) ? 1 / FEW : MUCH));

export interface Rival {
  readonly candidate: Candidate;
  /** Whether what static integers make of the same nodes is far less accurate. */
  readonly isFarBetter: boolean;
  /** Whether that leaves nothing to hope for from static integers. */
  readonly isAlone: boolean;
}

/** As it was tuned, and the same without evening channels out where it has that. */
const withAndWithout = (recipe: Recipe): Wanted[] => {
  const { smoothing, ...plain } = recipe;
  const recipes = smoothing ? [recipe, plain] : [recipe];
  return recipes.map((each) => ({ variant: { kind: "integers", recipe: each }, keptFloat: new Map() }));
};

/** The one of those that is worth its time; the other is discarded. */
function betterOf([tuned, plain]: readonly Candidate[], leastGainDb: number, workshop: Workshop): Candidate {
  if (!plain) return tuned!;
  const gained = (tuned!.sqnrDb ?? Number.NaN) - (plain.sqnrDb ?? Number.NaN);
  const [kept, other] = gained < leastGainDb ? [plain, tuned!] : [tuned!, plain];
  workshop.discard(other);
  return kept;
}

/** Dynamic integers beside which nothing was measured yet; with a limit on accuracy the more accurate, whatever it takes. */
export async function makeDynamic(
  recipe: Recipe,
  { workshop, config, record }: CandidatesRequest,
): Promise<Candidate | null> {
  const wanted = withAndWithout(recipe);
  if (wanted.length === 1) return null;
  const made = await record.stage("quantize", () => workshop.makeMeasured(wanted), "dynamic");
  return betterOf(made, isSearched(config) ? 0 : WORTH_SMOOTHING_DB, workshop);
}

/** @param dynamics names of the nodes that have dynamic integers */
export async function makeRival(
  recipe: Recipe,
  dynamics: readonly string[],
  { workshop, config, fit, placed, record }: CandidatesRequest,
): Promise<Rival | null> {
  if (isSearched(config) || !workshop.options.taps || fit.random || config.quantize.goal !== "speed") return null;
  const method = config.quantize.method ?? "mse";
  const statics = { kind: "integers", recipe: staticRecipe({ placement: widestPlacement, method }) } as const;
  const draft = { variant: statics, keptFloat: placed?.[0]?.keptFloat ?? new Map() };
  const make = () => workshop.makeMeasured([draft, ...withAndWithout(recipe)]);
  const [drafted, ...made] = await record.stage("quantize", make, "dynamic and static");
  workshop.discard(drafted!);
  const candidate = betterOf(made, WORTH_SMOOTHING_DB, workshop);
  const [own, other] = [candidate.sqnrDb, drafted!.sqnrDb];
  const isFarBetter = own !== null && other !== null && other < ENOUGH_DB && other < own - FAR_DB;
  // Products may be a small part of it all: what is left in float beside them static integers make faster too.
  const rest = 1 - (workshop.floatShare(dynamics) ?? 1) * (1 - DYNAMIC_SHARE);
  const isFarFaster = (placed?.[0]?.speedup ?? 0) * rest > 1 + MOST_SPEED_FOR_ACCURACY;
  return { candidate, isFarBetter, isAlone: isFarBetter && !isFarFaster };
}

/** Where static integers are far less accurate, and far faster: those with products as dynamic ones, which may be both. */
export async function rivalAmong(
  [fastest]: readonly Candidate[],
  { candidate, isFarBetter }: Rival,
  { workshop, record }: Pick<CandidatesRequest, "workshop" | "record">,
): Promise<readonly Candidate[]> {
  if (!fastest || !isFarBetter) return [];
  const instead = dynamicInstead(candidate, workshop);
  const nodes = [...instead.forms.keys()].filter((name) => fastest.built.forms.get(name) === "static");
  const left = fastest.built.forms.size - nodes.length;
  if (nodes.length === 0 || left === 0) return [];
  const variant = withLinesFor(withDynamic(fastest.variant, nodes, instead), 0);
  const make = () => workshop.makeMeasured([{ variant, keptFloat: fastest.keptFloat }]);
  return record.stage("quantize", make, "static and dynamic together");
}
