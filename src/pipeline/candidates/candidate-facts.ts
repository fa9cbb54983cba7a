/** What a result says of the candidates of a run. */
import type { Model } from "../../ir/index.js";
import { storedBitsOf } from "../../quantization/form.js";
import { planStatic } from "../../quantization/plan-static.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { widestPlacement } from "../calibrate/calibration.js";
import type { LatencyFacts } from "../result.js";
import { type Candidate, isInteger } from "./candidate.js";

export interface CandidateFacts {
  readonly name: string;
  readonly chosen: boolean;
  readonly bytes: number;
  /** Not in results of earlier versions. */
  readonly quantizedNodes?: number;
  /** Of `quantizedNodes`, those whose weights alone are integers. Not in results of earlier versions. */
  readonly weightNodes?: number;
  /** Nodes that could be integers, or that one would look for among them, and are float. */
  readonly floatNodes: number;
  /** As timed where it was, else as estimated: of two candidates comparable only where both are known in the same way. */
  readonly speedup: number | null;
  /** Before any was timed, by a profile, a table of kernels or a short race: what they are ranked by. Not in results of earlier versions. */
  readonly estimate?: number | null;
  /** What the estimate is beside: the model as it was given, or the float model that was made of it. Not in results of earlier versions. */
  readonly estimateBeside?: "original" | "rewritten";
  /** In turns with the original, as long as it takes to decide; null for those that were not. Not in results of earlier versions. */
  readonly timed?: number | null;
  /** Of `timed`; absent where that is null. */
  readonly timedInterval?: readonly [number, number];
  /** SQNR of the outputs against the float model on the samples used for the search, dB. */
  readonly sqnrDb: number | null;
  /** The metric on the evaluation data. */
  readonly accuracy: number | null;
  readonly reason: string;
}

/**
 * @param choices nodes that could be integers, for a run that made none
 * @param beside what estimates are beside; absent where the two are as good as one
 */
export function candidateFacts(
  tried: readonly Candidate[],
  chosen: Candidate | null,
  choices: () => number,
  beside?: CandidateFacts["estimateBeside"],
): CandidateFacts[] {
  const considered = tried.filter(isInteger).map(({ built }) => built.forms.size + built.float.length);
  const all = considered.length > 0 ? Math.max(...considered) : choices();
  const names = distinctNames(tried, chosen);
  return tried.map((candidate, i) => {
    const { built, speedup, estimate, interval, sqnrDb, accuracy, note } = candidate;
    return {
      ...{ name: names[i]!, chosen: candidate === chosen, bytes: built.bytes },
      quantizedNodes: built.forms.size,
      weightNodes: [...built.forms.values()].filter((form) => storedBitsOf(form) !== null).length,
      floatNodes: isInteger(candidate) ? built.float.length : all,
      ...(estimate === undefined ? { speedup, estimate: speedup, timed: null } : { speedup, estimate, timed: speedup }),
      ...(beside && { estimateBeside: beside }),
      ...(interval && { timedInterval: interval }),
      ...{ sqnrDb, accuracy: accuracy?.candidate ?? null, reason: note },
    };
  });
}

/** Those of one name have other nodes in float: they are told apart as "NAME (2)"; the chosen one is what the verdict calls it. */
function distinctNames(tried: readonly Candidate[], chosen: Candidate | null): readonly string[] {
  const taken = new Map(chosen ? [[chosen.name, 1]] : []);
  return tried.map((candidate) => {
    const { name } = candidate;
    if (candidate === chosen) return name;
    const times = (taken.get(name) ?? 0) + 1;
    taken.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
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
