/**
 * `fuse --runtime-specific`: the portable graph is fused on into operators of ONNX
 * Runtime's own domain, compared with the original like any other, and timed against the
 * portable graph. The runtime makes most of these fusions by itself when it loads a model,
 * so equal speed is what to expect, and loading is quicker; a graph that is clearly slower
 * is given up for the portable one.
 */
import { isFault } from "../../base/errors.js";
import { compareLatency } from "../../bench/index.js";
import { countNodes, loadModel, type Model, nodesWithin } from "../../ir/index.js";
import { RUNTIME_DOMAIN } from "../../passes/contrib/domain.js";
import type { SessionOptions } from "../../runtime/port.js";
import { requireTarget } from "../../target/find-target.js";
import { asDelivered } from "../model-runs.js";
import type { PassFacts, RuntimeSpecificFacts } from "../result.js";
import type { RunRecord } from "../run-record.js";
import type { UnfusedNode } from "../unfused/find-unfused.js";
import { comparisonData, onFirstThatRuns } from "./comparison-data.js";
import { type Prepared, prepareModel } from "./prepare.js";
import type { PrepareRequest } from "./prepare-request.js";
import { throughBoth } from "./provenance.js";

/** Milliseconds for the race; the least number of runs may exceed it. */
const RACE_MS = 2000;

export interface RuntimeSpecificChoice {
  readonly prepared: Prepared;
  readonly facts: RuntimeSpecificFacts;
}

/** @param portable what the request gave: the graph to fuse on, and to go back to */
export async function chooseRuntimeSpecific(
  portable: Prepared,
  request: PrepareRequest,
  record: RunRecord,
): Promise<RuntimeSpecificChoice> {
  const { context } = record;
  const fused = await record.stage("fuse", () =>
    prepareModel(
      {
        ...request,
        model: portable.path,
        baseline: request.model,
        recipe: "runtime",
        graph: { ...request.graph, keepOpset: true },
      },
      context,
    ),
  );
  const made = foreignNodes(fused.model) - foreignNodes(portable.model);
  const counts = { made, nodes: countNodes(fused.model.graph), portableNodes: countNodes(portable.model.graph) };
  const both = {
    ...fused,
    provenance: throughBoth(portable.provenance, fused.provenance),
    passes: mergePasses(portable.passes, fused.passes),
    unfused: stillUnfused(portable, fused),
    warnings: [...new Set([...portable.warnings, ...fused.warnings])],
  };
  const barred = made === 0 && request.graph.target ? barredBy(request.graph.target, fused.passes) : 0;
  if (barred > 0)
    record.warn(
      `${request.graph.target} does not take what --runtime-specific would make of ${barred} ${barred === 1 ? "node" : "nodes"}`,
    );
  if (made === 0) return { prepared: both, facts: { kept: false, ...counts, speedup: null, speedupInterval: null } };
  const race = await record.stage("bench", () => raceOf(portable.path, fused.path, request, record));
  const kept = race.loads && !race.isSlower;
  const { speedup, speedupInterval } = race;
  return { prepared: kept ? both : portable, facts: { kept, ...counts, speedup, speedupInterval } };
}

/** Nodes that only the target keeps from being fused. */
const barredBy = (target: string, passes: readonly PassFacts[]): number => {
  const opening = `${requireTarget(target).title}: `;
  const skipped = passes.flatMap((pass) => pass.skipped).filter(({ reason }) => reason.startsWith(opening));
  return new Set(skipped.map(({ node }) => node)).size;
};

interface RaceResult extends Pick<RuntimeSpecificFacts, "speedup" | "speedupInterval"> {
  /** Whether the provider takes it at all. */
  readonly loads: boolean;
  readonly isSlower: boolean;
}

async function raceOf(
  portable: string,
  fused: string,
  request: PrepareRequest,
  record: RunRecord,
): Promise<RaceResult> {
  const { context } = record;
  const { graph, runtime } = request;
  const { trial: data, signature } = await request.intake;
  const session = asDelivered(runtime);
  let failure = "nothing is run with --verify none";
  if (graph.verify !== "none") {
    // Made-up inputs are of a size to be timed, or else of one that the model takes.
    const others = data.random ? comparisonData(data, signature, loadModel(request.model), graph.verify, runtime) : [];
    const tried = await onFirstThatRuns(
      [data, ...others],
      (inputs) =>
        compareLatency(context.runtime, {
          baseline: portable,
          candidates: [fused],
          data: inputs,
          session,
          seed: runtime.seed,
          budgetMs: Math.min(RACE_MS, runtime.benchMs),
          onProgress: record.progress,
          signal: context.signal,
          clock: context.now,
        }),
      () => false,
    );
    if ("result" in tried) {
      const { speedup, speedupInterval } = tried.result.candidates[0]!;
      return { loads: true, isSlower: speedupInterval[1] < 1, speedup, speedupInterval };
    }
    failure = tried.problem.message;
  }
  record.warn(`the runtime-specific graph was not timed: ${failure}`);
  return { loads: await loads(fused, session, record), isSlower: false, speedup: null, speedupInterval: null };
}

async function loads(model: string, session: SessionOptions, { context }: RunRecord): Promise<boolean> {
  try {
    await context.runtime.describe(model, session, { isRough: true });
    return true;
  } catch (thrown) {
    if (!isFault(thrown)) throw thrown;
    return false;
  }
}

/** For the summary of the verdict. */
export function runtimeSpecificText({ kept, made, speedup, speedupInterval }: RuntimeSpecificFacts): string {
  if (made === 0) return "nothing runtime-specific to fuse";
  const times =
    speedup === null || !speedupInterval
      ? "not timed"
      : `${speedup.toFixed(2)}x the portable graph's speed (${speedupInterval.map((bound) => bound.toFixed(2)).join(" to ")})`;
  const fused = `${made} ${made === 1 ? "operator" : "operators"} of ${RUNTIME_DOMAIN}, ${times}`;
  return kept ? `${fused}: the file runs on ONNX Runtime only` : `the portable graph was kept: ${fused}`;
}

/** Nodes of the runtime's own domain, all bodies together. */
const foreignNodes = ({ graph }: Model): number =>
  [...nodesWithin(graph)].filter(({ domain }) => domain === RUNTIME_DOMAIN).length;

/** What the portable passes left and these left too, and what only these declined. */
function stillUnfused(portable: Prepared, { model, unfused }: Prepared): readonly UnfusedNode[] {
  const ops = new Map([...nodesWithin(model.graph)].map(({ displayName, opName }) => [displayName, opName]));
  const before = portable.unfused.filter(({ node, op }) => ops.get(node) === op);
  const known = new Set(before.map(({ node }) => node));
  return [...before, ...unfused.filter(({ node }) => !known.has(node))];
}

/** One entry per pass: what it did before and after. */
function mergePasses(before: readonly PassFacts[], after: readonly PassFacts[]): PassFacts[] {
  const later = new Map(after.map((pass) => [pass.name, pass]));
  const earlier = before.map((pass) => {
    const again = later.get(pass.name);
    later.delete(pass.name);
    if (!again) return pass;
    const { applied, durationMs } = pass;
    return { ...pass, ...again, applied: applied + again.applied, durationMs: durationMs + again.durationMs };
  });
  return [...earlier, ...later.values()];
}
