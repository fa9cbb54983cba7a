/**
 * Dynamic integers beside a draft of static ones, where there is no limit that would tell which errors are too large. Static
 * ones are faster as a rule; where their errors are far larger, and they are not far faster, nobody would want them, and the
 * long way to good ones is saved.
 */
import type { Recipe } from "../../quantization/recipe.js";
import { staticRecipe } from "../../quantization/recipe.js";
import { widestPlacement } from "../calibrate/calibration.js";
import type { Candidate } from "../candidates/candidate.js";
import type { Workshop } from "../candidates/workshop.js";
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

/** @param dynamics names of the nodes that have dynamic integers */
export async function makeRival(
  recipe: Recipe,
  dynamics: readonly string[],
  { workshop, config, fit, placed, record }: CandidatesRequest,
): Promise<Rival | null> {
  if (isSearched(config) || !workshop.options.taps || fit.random || config.quantize.goal !== "speed") return null;
  const method = config.quantize.method ?? "mse";
  const statics = { kind: "integers", recipe: staticRecipe({ placement: widestPlacement, method }) } as const;
  const [candidate, draft] = await record.stage(
    "quantize",
    () =>
      workshop.makeMeasured([
        { variant: { kind: "integers", recipe }, keptFloat: new Map() },
        { variant: statics, keptFloat: placed?.[0]?.keptFloat ?? new Map() },
      ]),
    "dynamic and static",
  );
  workshop.discard(draft!);
  const [own, other] = [candidate!.sqnrDb, draft!.sqnrDb];
  const isFarBetter = own !== null && other !== null && other < ENOUGH_DB && other < own - FAR_DB;
  // Products may be a small part of it all: what is left in float beside them static integers make faster too.
  const rest = 1 - (workshop.floatShare(dynamics) ?? 1) * (1 - DYNAMIC_SHARE);
  const isFarFaster = (placed?.[0]?.speedup ?? 0) * rest > 1 + MOST_SPEED_FOR_ACCURACY;
  return { candidate: candidate!, isFarBetter, isAlone: isFarBetter && !isFarFaster };
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
