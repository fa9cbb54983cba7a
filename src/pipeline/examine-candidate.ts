/**
 * How the runtime executes a candidate: where its nodes run, and which of them on integers. One profiled
 * session tells both; before the race, while a process is there that need not be started.
 */
import { existsSync } from "node:fs";
import type { DatasetRef } from "../dataset/index.js";
import type { Candidate } from "./candidate.js";
import type { RuntimeConfig } from "./config.js";
import { auditCandidate } from "./integer-audit.js";
import { removeLinked, scratchFile } from "./model-runs.js";
import { measurePlacement } from "./placement.js";
import type { IntegerFacts, PlacementFacts } from "./result.js";
import type { RunRecord } from "./run-record.js";

export interface Examination {
  readonly integers: IntegerFacts | null;
  readonly placement: PlacementFacts | null;
  /** For the candidate that is chosen: of others nobody wants to know. */
  readonly warnings: readonly string[];
}

/** @param isAudited whether it has integers that the runtime here is made for */
export async function examineCandidate(
  { built }: Candidate,
  isAudited: boolean,
  data: DatasetRef,
  config: RuntimeConfig,
  record: RunRecord,
): Promise<Examination> {
  const warnings: string[] = [];
  const quiet = {
    context: record.context,
    stage: record.stage.bind(record),
    warn: (...texts: readonly string[]) => void warnings.push(...texts),
  };
  const executed = scratchFile(record.context, "executed");
  try {
    const placement = await measurePlacement(built.path, data, config, quiet, isAudited ? executed : undefined);
    const known = existsSync(executed) ? executed : null;
    const integers = isAudited ? await auditCandidate(built, config, quiet, known) : null;
    return { integers, placement, warnings };
  } finally {
    removeLinked(executed);
  }
}
