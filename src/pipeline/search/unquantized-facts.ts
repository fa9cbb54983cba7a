/** Why nodes are float in a result without integers: what was found out on the way to it is told all the same. */
import { type Model, nodesWithin } from "../../ir/index.js";
import { type FloatNode, planStatic } from "../../quantization/plan-static.js";
import { widestPlacement } from "../calibrate/calibration.js";
import { type Candidate, isInteger, isStatic } from "../candidates/candidate.js";
import type { RegionFacts, UnquantizedFacts } from "../result.js";
import type { Allowed } from "./quantization-facts.js";

/** What a search knows of integers that it did not take. */
export interface NotTaken {
  readonly tried: readonly Candidate[];
  /** Where the table of kernels spoke against all static ones. */
  readonly regions: readonly RegionFacts[];
  /** Where none could be made, or no static ones. */
  readonly why: string;
}

const TRIED = "tried as integers, and no model with integers was taken: the candidates say why";

/** @param model the prepared one */
export function unquantizedFacts(
  model: Model,
  { target, excluded }: Pick<Allowed, "target" | "excluded">,
  { tried, regions, why }: NotTaken,
): UnquantizedFacts {
  const keepFloat = new Map([...excluded, ...regions.map(({ region, reason }) => [region, reason] as const)]);
  const { float } = planStatic(model, target, { ...widestPlacement, keepFloat });
  const reasons = new Map(float.map((each) => [each.node, each]));
  const integers = tried.filter(isInteger);
  // Where static ones do not pay is known in milliseconds.
  const [statics, others] = [integers.filter(isStatic), integers.filter((each) => !isStatic(each))];
  const left = [...statics, ...others].flatMap(({ built }) => built.float);
  for (const each of [...left, ...integers.flatMap((candidate) => triedNodes(model, candidate))])
    if (!reasons.has(each.node)) reasons.set(each.node, each);
  const isTried = integers.length > 0 && regions.length === 0;
  return {
    why: isTried ? "integers were tried, and none were taken" : why,
    float: [...reasons.values()],
    ...(regions.length > 0 && { regions }),
  };
}

const triedNodes = ({ graph }: Model, { built }: Candidate): FloatNode[] =>
  [...nodesWithin(graph)]
    .filter(({ name }) => built.forms.has(name))
    .map(({ displayName, opName }) => ({ node: displayName, op: opName, reason: TRIED }));
