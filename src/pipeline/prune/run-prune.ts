/**
 * `prune`: channels, hidden units and heads that the net can do without are taken out, and the layers that are left are fitted
 * to what the original made, without labels and without training. How narrow each group becomes follows from what
 * it saves and what is missed for it, both measured; what is delivered has been judged on other samples and timed.
 */

import { uniformWidths, type Widths } from "../../pruning/choose/widths.js";
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import { findChannelGroups } from "../../pruning/groups/find-channel-groups.js";
import { channelBlock } from "../../target/channel-block.js";
import type { PruneConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { differenceFacts, differenceWarnings } from "../difference.js";
import { type Intake, takeIn } from "../intake.js";
import { type Prepared, prepareModel } from "../prepare.js";
import { requestOf } from "../prepare-request.js";
import type { RunResult, Verdict } from "../result.js";
import { RunRecord } from "../run-record.js";
import { SearchFiles } from "../search-files.js";
import { pruneIdentity } from "../search-identity.js";
import { writeOutput, writeRejected } from "../write-output.js";
import { fitSamples, LEAST_OPSET } from "./fit-samples.js";
import { givenWidths, groupsToPrune } from "./groups-to-prune.js";
import { PrunedJudge } from "./judge-pruned.js";
import { measureGroups, pathOf } from "./plan-path.js";
import { PruneMemory, type PrunePlan } from "./prune-memory.js";
import { narrowingFacts } from "./pruning-facts.js";
import { type RankRequest, rankGroups } from "./rank-groups.js";
import { runSparse } from "./run-sparse.js";
import { sampleSizes } from "./sample-sizes.js";
import { PruneSearch, type Tried } from "./search.js";

export function runPrune(config: PruneConfig, context: RunContext): Promise<RunResult> {
  const { sparsity } = config.prune;
  return sparsity ? runSparse(config, sparsity, context) : new PruneRun(config, context).run();
}

class PruneRun {
  readonly record: RunRecord;
  #files: SearchFiles | null = null;

  constructor(
    readonly config: PruneConfig,
    readonly context: RunContext,
  ) {
    this.record = new RunRecord("prune", context);
  }

  async run(): Promise<RunResult> {
    try {
      return await this.#run();
    } catch (thrown) {
      throw this.#files ? this.#files.failed(thrown, this.context.signal) : thrown;
    }
  }

  async #run(): Promise<RunResult> {
    const { config, record, context } = this;
    const { runtime } = config;
    const intake = await record.stage("load", () => takeIn(config, record));
    const samples = fitSamples(intake, record);
    const prepared = await record.stage("fuse", () =>
      prepareModel(requestOf(config, intake, "fuse", LEAST_OPSET), context),
    );
    record.warn(...prepared.warnings);
    const map = findChannelGroups(prepared.model);
    const groups = groupsToPrune(map, config.prune.selection);
    if (groups.length === 0) return this.#nothingToDo(intake, prepared, map);

    const { keepRatio, widths, goal } = config.prune;
    const given = widths
      ? givenWidths(map, groups, widths)
      : keepRatio === null
        ? null
        : this.#uniform(groups, keepRatio);
    const sizes = await sampleSizes(prepared.path, samples.data, runtime, context);
    const identity = pruneIdentity(config, intake, context);
    this.#files = SearchFiles.beside(config.out.output, identity, goal, record);
    const memory = new PruneMemory(this.#files);
    const request = { map, groups, samples, sizes, runtime, withTrials: given === null, onProgress: record.progress };
    const known = memory.plan(map);
    const plan = known ?? (await this.#plan(request, prepared));
    if (!known) memory.keepPlan(plan, map);
    const { order, measures } = plan;
    const judge = new PrunedJudge(config, intake, record);
    const search = new PruneSearch(config, { map, order, samples, sizes, runtime }, judge, record, memory);
    const chosen = given
      ? await search.only(given, widths ? "the given widths" : `keep ${keepRatio}`)
      : await search.along(pathOf(measures!, map, this.#block));
    if (chosen) await search.complete(chosen);
    return this.#finish(intake, prepared, map, groups, search, chosen);
  }

  #uniform(groups: readonly ChannelGroup[], share: number): Widths {
    return uniformWidths(groups, share, this.#block);
  }

  get #block(): number {
    return channelBlock(this.context.environment.flags);
  }

  async #plan(request: RankRequest, prepared: Prepared): Promise<PrunePlan> {
    const { record, context } = this;
    const ranked = await record.stage("calibrate", () => rankGroups(request, context), "units");
    const order = new Map([...ranked].map(([group, { removal }]) => [group, removal]));
    if (!request.withTrials) return { order, measures: null };
    const asked = { ...request, order, ranked, whole: prepared.path, block: this.#block };
    return { order, measures: await record.stage("profile", () => measureGroups(asked, context), "groups") };
  }

  async #finish(
    intake: Intake,
    prepared: Prepared,
    map: ChannelMap,
    groups: readonly ChannelGroup[],
    search: PruneSearch,
    chosen: Tried | null,
  ): Promise<RunResult> {
    const { config, record } = this;
    if (!chosen) {
      this.#files?.remove();
      return this.#nothingToDo(intake, prepared, map);
    }
    const { file, measured } = chosen;
    const differences = measured.differences ?? [];
    const ruling = search.rule(chosen);
    record.warn(...ruling.warnings, ...differenceWarnings(differences));
    const isPassed = ruling.verdict.outcome === "met";
    const { original } = intake;
    const output = await record.stage("write", () =>
      isPassed
        ? writeOutput(file.path, original, config.out, record)
        : writeRejected(file.path, original, config.out, record),
    );
    this.#files?.remove();
    return record.result({
      model: intake.facts,
      output,
      passes: prepared.passes,
      unfused: prepared.unfused,
      accuracy: measured.accuracy.facts,
      latency: measured.latency?.facts ?? null,
      verdict: ruling.verdict,
      difference: differenceFacts(differences),
      candidates: search.tried.map((each) => ({
        name: each.name,
        chosen: each === chosen && isPassed,
        bytes: each.file.bytes,
        quantizedNodes: 0,
        floatNodes: 0,
        speedup: each.measured.latency?.facts.speedup ?? null,
        sqnrDb: null,
        accuracy: each.measured.accuracy.facts.candidate,
        reason: each === chosen ? "chosen" : "",
      })),
      pruning: narrowingFacts(map, chosen, search.tried, groups),
    });
  }

  #nothingToDo({ facts }: Intake, prepared: Prepared, map: ChannelMap): RunResult {
    const frozen = map.groups.find((group) => group.frozen !== null);
    const why = frozen
      ? `no group of channels can be narrowed: ${frozen.name}: ${frozen.frozen}`
      : "it has no groups of channels";
    const verdict: Verdict = { status: "fail", outcome: "no-gain", reasons: [], summary: `nothing to do: ${why}` };
    return this.record.result({ model: facts, passes: prepared.passes, verdict });
  }
}
