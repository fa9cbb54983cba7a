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

export interface Rival {
  readonly candidate: Candidate;
  /** Whether what static integers make of the same nodes is far less accurate. */
  readonly isFarBetter: boolean;
  /** Whether that leaves nothing to hope for from static integers. */
  readonly isAlone: boolean;
}

/** What evening out channels must gain at least: it takes a product for each of their elements, and was told by the noise of single products. */
const WORTH_SMOOTHING_DB = 1;

/** As it was tuned, and without evening channels out where it has that. */
const dynamicsOf = (recipe: Recipe): Wanted[] => {
  const { smoothing, ...plain } = recipe;
  const recipes = smoothing ? [recipe, plain] : [recipe];
  return recipes.map((each) => ({ variant: { kind: "integers", recipe: each }, keptFloat: new Map() }));
};

/** The better of those; the other is discarded. */
function betterOf([tuned, plain]: readonly Candidate[], workshop: Workshop): Candidate {
  if (!plain) return tuned!;
  const gained = (tuned!.sqnrDb ?? Number.NaN) - (plain.sqnrDb ?? Number.NaN);
  const [kept, other] = gained < WORTH_SMOOTHING_DB ? [plain, tuned!] : [tuned!, plain];
  workshop.discard(other);
  return kept;
}

/** Where nothing stands beside them yet: the recipe of the better. */
export async function betterDynamic(recipe: Recipe, { workshop, record }: CandidatesRequest): Promise<Recipe> {
  const wanted = dynamicsOf(recipe);
  if (wanted.length === 1) return recipe;
  const made = await record.stage("quantize", () => workshop.makeMeasured(wanted), "dynamic");
  const { variant } = betterOf(made, workshop);
  for (const each of made) workshop.discard(each);
  return variant.kind === "integers" ? variant.recipe : recipe;
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
  const make = () => workshop.makeMeasured([draft, ...dynamicsOf(recipe)]);
  const [drafted, ...made] = await record.stage("quantize", make, "dynamic and static");
  workshop.discard(drafted!);
  const candidate = betterOf(made, workshop);
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
  workshop: Workshop,
): Promise<readonly Candidate[]> {
  if (!fastest || !isFarBetter) return [];
  const instead = dynamicInstead(candidate, workshop);
  const nodes = [...instead.forms.keys()].filter((name) => fastest.built.forms.get(name) === "static");
  const left = fastest.built.forms.size - nodes.length;
  if (nodes.length === 0 || left === 0) return [];
  const mixed = workshop.make(withLinesFor(withDynamic(fastest.variant, nodes, instead), 0), fastest.keptFloat);
  await workshop.measureError([mixed]);
  return [mixed];
}
