/** Under what conditions models were timed, for those who read the figures later or elsewhere. */
import { affinityMeans, processorText } from "../../runtime/affinity.js";
import type { RuntimeConfig } from "../config.js";
import { asDelivered } from "../model-runs.js";
import type { AffinityFacts, ConditionsFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";

type Threads = readonly (readonly number[])[];

/**
 * To be called before anything is timed; what it returns, after. That is given the processors that threads were seen to
 * be allowed. Throws FLAG_INVALID or AFFINITY_UNAVAILABLE for an affinity that cannot be had.
 */
export function watchConditions(
  runtime: RuntimeConfig,
  threads: readonly number[],
  record: RunRecord,
): (seen?: Threads) => { readonly conditions?: ConditionsFacts } {
  const { machineState } = record.context;
  const { affinity } = runtime;
  const means = affinity && affinityMeans(affinity, Math.min(...threads));
  if (affinity && Math.max(...threads) > affinity.length) {
    record.warn(`more threads than processors: ${Math.max(...threads)} on ${processorText(affinity)}`);
  }
  if (means === "threads") {
    record.warn(
      `only the runtime's own threads are kept on processors ${processorText(affinity!)}: there is no taskset for the process`,
    );
  }
  const before = machineState?.();
  return (seen = []) => {
    const kept = affinity && means && affinityFacts(affinity, means, seen);
    if (kept) warnOfOthers(kept, record);
    if (!before || !machineState) return {};
    const { load, temperatureC, ...lasting } = before;
    const after = machineState();
    return {
      conditions: {
        ...lasting,
        ...{ load: [load, after.load], temperatureC: [temperatureC, after.temperatureC] },
        optimization: asDelivered(runtime).optimization,
        ...(kept && { affinity: kept }),
      },
    };
  };
}

function affinityFacts(wanted: readonly number[], means: AffinityFacts["means"], seen: Threads): AffinityFacts {
  const sets = new Map(seen.map((allowed) => [allowed.join(), allowed]));
  return { wanted, means, seen: [...sets.values()] };
}

function warnOfOthers({ wanted, means, seen }: AffinityFacts, record: RunRecord): void {
  const others = seen.filter((allowed) => allowed.join() !== wanted.join());
  if (means === "threads" || others.length === 0) return;
  record.warn(`threads were on processors ${others.map(processorText).join(" and ")}, not on ${processorText(wanted)}`);
}
