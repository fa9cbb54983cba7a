/** What a result says of the candidates of a run. */
import type { Model } from "../../ir/index.js";
import { planStatic } from "../../quantization/plan-static.js";
import { isStored } from "../../quantization/recipe.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { widestPlacement } from "../calibrate/calibration.js";
import type { CandidateFacts, LatencyFacts } from "../result.js";
import { type Candidate, isInteger } from "./candidate.js";

/** @param choices nodes that could be integers, for a run that made none */
export function candidateFacts(
  tried: readonly Candidate[],
  chosen: Candidate | null,
  choices: () => number,
): CandidateFacts[] {
  const considered = tried.filter(isInteger).map(({ built }) => built.forms.size + built.float.length);
  const all = considered.length > 0 ? Math.max(...considered) : choices();
  return tried.map((candidate) => {
    const { name, built, speedup, estimate, sqnrDb, accuracy, note } = candidate;
    return {
      ...{ name, chosen: candidate === chosen, bytes: built.bytes },
      quantizedNodes: built.forms.size,
      weightNodes: [...built.forms.values()].filter(isStored).length,
      floatNodes: isInteger(candidate) ? built.float.length : all,
      ...(estimate === undefined ? { speedup, estimate: speedup, timed: null } : { speedup, estimate, timed: speedup }),
      ...{ sqnrDb, accuracy: accuracy?.candidate ?? null, reason: note },
    };
  });
}

/** Of what is raced before anything else is known of its speed. */
export function onlyTimed(
  latency: Pick<LatencyFacts, "speedup"> | undefined,
): Pick<CandidateFacts, "speedup" | "estimate" | "timed"> {
  const speedup = latency?.speedup ?? null;
  return { speedup, estimate: null, timed: speedup };
}

/** Nodes that could be integers on the target, and those that one would look for among them. */
export function integerChoices(model: Model, target: IntegerTarget): number {
  const { nodes, float } = planStatic(model, target, widestPlacement);
  return nodes.length + float.length;
}
