/**
 * `prune`: channels, hidden units and heads that the net can do without are taken out, and the layers that are left are fitted
 * to what the original made, without labels and without training. How narrow each group becomes follows from what
 * it saves and what is missed for it, both measured; what is delivered has been judged on other samples and timed.
 */

import type { NarrowingPath } from "../../pruning/choose/narrowing-path.js";
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
import { writeOutput, writeRejected } from "../write-output.js";
import { fitSamples } from "./fit-samples.js";
import { groupsToPrune } from "./groups-to-prune.js";
import { PrunedJudge } from "./judge-pruned.js";
import { planPath } from "./plan-path.js";
import type { PruningKnown } from "./pruned-file.js";
import { narrowingFacts } from "./pruning-facts.js";
import { type Ranked, rankGroups } from "./rank-groups.js";
import { sampleSizes } from "./sample-sizes.js";
import { PruneSearch, type Tried } from "./search.js";

export const runPrune = (config: PruneConfig, context: RunContext): Promise<RunResult> =>
  new PruneRun(config, context).run();

/** Fitted opset: what the sums of fits are made of. */
const LEAST_OPSET = 13;

class PruneRun {
  readonly record: RunRecord;

  constructor(
    readonly config: PruneConfig,
    readonly context: RunContext,
  ) {
    this.record = new RunRecord("prune", context);
  }

  async run(): Promise<RunResult> {
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

    const sizes = await sampleSizes(prepared.path, samples.data, runtime, context);
    const { keepRatio } = config.prune;
    const request = {
      map,
      groups,
      samples,
      sizes,
      runtime,
      withTrials: keepRatio === null,
      onProgress: record.progress,
    };
    const ranked = await record.stage("calibrate", () => rankGroups(request, context), "units");
    const order = new Map([...ranked].map(([group, { removal }]) => [group, removal]));
    const known: PruningKnown = { map, order, samples, sizes, runtime };
    const judge = new PrunedJudge(config, intake, record);
    const search = new PruneSearch(config, known, judge, record);
    const chosen =
      keepRatio === null
        ? await search.along(await this.#path(known, groups, ranked, prepared))
        : await search.only(this.#uniform(groups, keepRatio), `keep ${keepRatio}`);
    return this.#finish(intake, prepared, map, search, chosen);
  }

  #uniform(groups: readonly ChannelGroup[], share: number): Widths {
    return uniformWidths(groups, share, channelBlock(this.context.environment.flags));
  }

  #path(
    known: PruningKnown,
    groups: readonly ChannelGroup[],
    ranked: ReadonlyMap<ChannelGroup, Ranked>,
    prepared: Prepared,
  ): Promise<NarrowingPath> {
    const request = {
      ...known,
      groups,
      ranked,
      whole: prepared.path,
      block: channelBlock(this.context.environment.flags),
    };
    return this.record.stage("profile", () => planPath(request, this.context), "groups");
  }

  async #finish(
    intake: Intake,
    prepared: Prepared,
    map: ChannelMap,
    search: PruneSearch,
    chosen: Tried | null,
  ): Promise<RunResult> {
    const { config, record } = this;
    if (!chosen) return this.#nothingToDo(intake, prepared, map);
    const { file, measured } = chosen;
    const ruling = search.rule(chosen);
    record.warn(...ruling.warnings, ...differenceWarnings(measured.differences));
    const isPassed = ruling.verdict.outcome === "met";
    const { original } = intake;
    const output = await record.stage("write", () =>
      isPassed
        ? writeOutput(file.path, original, config.out, record)
        : writeRejected(file.path, original, config.out, record),
    );
    return record.result({
      model: intake.facts,
      output,
      passes: prepared.passes,
      unfused: prepared.unfused,
      accuracy: measured.accuracy.facts,
      latency: measured.latency?.facts ?? null,
      verdict: ruling.verdict,
      difference: differenceFacts(measured.differences),
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
      pruning: narrowingFacts(map, chosen, search.tried),
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
