/**
 * How the runtime executes a candidate: where its nodes run, and which of them on integers. One profiled
 * session tells both; before the race, while a process is there that need not be started.
 */
import { existsSync } from "node:fs";
import type { DatasetRef } from "../../dataset/index.js";
import { loadModel, loadWritten, type Model } from "../../ir/index.js";
import type { Candidate } from "../candidates/candidate.js";
import type { RuntimeConfig } from "../config.js";
import { measurePlacement, type Placed, profilePlacement } from "../measure/placement.js";
import { removeLinked, scratchFile } from "../model-runs.js";
import { type ExecutedNodes, executedNodes } from "../profile/executed-nodes.js";
import type { IntegerFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";
import { auditCandidate } from "./integer-audit.js";

export interface Examination {
  readonly integers: IntegerFacts | null;
  readonly placed: Placed | null;
  readonly executed: ExecutedNodes | null;
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
  const path = scratchFile(record.context, "executed");
  try {
    const placed = await measurePlacement({ model: built.path, data, config, record: quiet, executed: path });
    const executed = placed && nodesOf(loadModel(built.path), path, placed);
    const integers = isAudited ? await auditCandidate(built, config, quiet, existsSync(path) ? path : null) : null;
    return { integers, placed, executed, warnings };
  } finally {
    removeLinked(path);
  }
}

/** What a candidate is compared with, node by node. */
export interface OriginalTimes {
  readonly steps: Placed["steps"];
  readonly executed: ExecutedNodes;
}

/** null where it could not be profiled, which only warns. */
export async function examineOriginal(
  model: Model,
  file: string,
  data: DatasetRef,
  config: RuntimeConfig,
  record: RunRecord,
): Promise<OriginalTimes | null> {
  const path = scratchFile(record.context, "executed");
  try {
    const placed = await profilePlacement({ model: file, data, config, record, executed: path });
    return placed && { steps: placed.steps, executed: nodesOf(model, path, placed) };
  } finally {
    removeLinked(path);
  }
}

/** @param path where the runtime wrote its graph, if it could */
const nodesOf = (file: Model, path: string, { steps }: Placed): ExecutedNodes =>
  executedNodes(file, existsSync(path) ? loadWritten(path, file.path) : null, steps);
