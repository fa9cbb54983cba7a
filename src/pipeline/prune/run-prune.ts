/**
 * `prune`: channels, hidden units and heads that the net can do without are taken out, and the layers that are left are fitted
 * to what the original made, without labels and without training. How narrow each group becomes follows from what
 * it saves and what is missed for it, both measured; what is delivered has been judged on other samples and timed.
 */
import { uniformWidths, type Widths } from "../../pruning/choose/widths.js";
import type { ChannelGroup, ChannelMap } from "../../pruning/groups/channel-group.js";
import { findChannelGroups } from "../../pruning/groups/find-channel-groups.js";
import { channelBlock } from "../../target/channel-block.js";
import { integerChoices, onlyTimed } from "../candidates/candidate-facts.js";
import type { PruneConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { type Intake, takeIn } from "../intake.js";
import { bytesReckoner, writeJudged } from "../output/write-output.js";
import { type Prepared, prepareModel } from "../prepare/prepare.js";
import { requestOf } from "../prepare/prepare-request.js";
import type { AccuracyFacts, RunResult, Verdict } from "../result.js";
import { type PartOf, SearchFiles } from "../resume/search-files.js";
import { pruneIdentity } from "../resume/search-identity.js";
import { RunRecord } from "../run-record.js";
import { requireLimit } from "../verdict/required-limit.js";
import { differenceFacts, differenceWarnings } from "../verify/difference.js";
import { placesOf } from "../verify/other-target.js";
import { fitSamples, LEAST_OPSET } from "./fit-samples.js";
import { givenWidths, groupsToPrune } from "./groups-to-prune.js";
import { PrunedJudge } from "./judge-pruned.js";
import type { Tried } from "./net-trials.js";
import { measureGroups, pathOf } from "./plan-path.js";
import { PruneMemory, type PrunePlan } from "./prune-memory.js";
import type { PruningKnown } from "./pruned-file.js";
import { narrowingFacts } from "./pruning-facts.js";
import { type RankRequest, rankGroups } from "./rank-groups.js";
import { runSparse } from "./run-sparse.js";
import { sampleSizes } from "./sample-sizes.js";
import { PruneSearch } from "./search.js";

/** Of the time that is given: what is not ranked by then goes by its weights, so that there is time to fit nets and to race them. */
const RANKED_BY = 0.5;

export async function runPrune(config: PruneConfig, context: RunContext): Promise<RunResult> {
  requireLimit(config);
  const { sparsity } = config.prune;
  return sparsity ? runSparse(config, sparsity, context) : new PruneRun(config, context).run();
}

/** What came of looking for narrower nets. */
export interface Found {
  readonly intake: Intake;
  readonly prepared: Prepared;
  readonly map: ChannelMap;
  /** Groups that may be narrowed. */
  readonly groups: readonly ChannelGroup[];
  /** null where nothing can be narrowed. */
  readonly search: PruneSearch | null;
  readonly chosen: Tried | null;
}

export class PruneRun {
  readonly record: RunRecord;
  #files: SearchFiles | null = null;

  constructor(
    readonly config: PruneConfig,
    readonly context: RunContext,
    readonly part: PartOf | null = null,
  ) {
    this.record = part?.record ?? new RunRecord("prune", context, config.prune.budgetMs);
  }

  async run(): Promise<RunResult> {
    try {
      return await this.#finish(await this.find());
    } catch (thrown) {
      throw this.#files ? this.#files.failed(thrown, this.context.signal) : thrown;
    }
  }

  /** Nets with what was measured of them; the files of those that are chosen are there. */
  async find(): Promise<Found> {
    const { config, record, context } = this;
    const { runtime } = config;
    const intake = await record.stage("load", () => takeIn(config, record, "weights"));
    const samples = fitSamples(intake, record);
    const prepared = await record.stage("fuse", () =>
      prepareModel(requestOf(config, intake, "compact", LEAST_OPSET), context),
    );
    record.warn(...prepared.warnings);
    const map = findChannelGroups(prepared.model);
    const groups = groupsToPrune(map, config.prune.selection);
    if (groups.length === 0) return { intake, prepared, map, groups, search: null, chosen: null };

    const { keepRatio, widths, goal } = config.prune;
    const given = widths
      ? givenWidths(map, groups, widths)
      : keepRatio === null
        ? null
        : this.#uniform(groups, keepRatio);
    const sizes = await sampleSizes(prepared.path, samples.data, runtime, context);
    this.#files = this.part
      ? this.part.files(intake)
      : SearchFiles.beside(config.out.output, pruneIdentity(config, intake, context), goal, record);
    const memory = new PruneMemory(this.#files);
    const hasSpent = (share: number) => (): boolean => {
      const { budgetMs } = config.prune;
      return budgetMs !== null && record.elapsedMs > share * budgetMs;
    };
    const onProgress = record.progress;
    const bytesOf = bytesReckoner(intake.original, config.out);
    const request = { map, groups, samples, sizes, runtime, bytesOf, given, isOver: hasSpent(RANKED_BY), onProgress };
    const known = memory.plan(map);
    const plan = known ?? (await this.#plan(request, prepared));
    if (!known && !plan.isCutShort) memory.keepPlan(plan, map);
    const { order, measures } = plan;
    const judge = new PrunedJudge(config, intake, record);
    const search = new PruneSearch(
      config,
      { map, order, samples, sizes, runtime, bytesOf, isOver: hasSpent(1) },
      judge,
      record,
      memory,
    );
    const chosen = given
      ? await search.only(given, widths ? "the given widths" : `keep ${keepRatio}`)
      : await search.along(pathOf(measures!, map, this.#block));
    if (chosen) await search.complete(chosen);
    return { intake, prepared, map, groups, search, chosen };
  }

  #uniform(groups: readonly ChannelGroup[], share: number): Widths {
    return uniformWidths(groups, share, this.#block);
  }

  get #block(): number {
    return channelBlock(this.context.environment.flags);
  }

  async #plan(request: RankRequest & Pick<PruningKnown, "bytesOf">, prepared: Prepared): Promise<PrunePlan> {
    const { record, context } = this;
    const ranked = await record.stage("calibrate", () => rankGroups(request, context), "layers");
    const order = new Map([...ranked].map(([group, { removal }]) => [group, removal]));
    const unseen = [...ranked.values()].filter(({ isLooked }) => !isLooked).length;
    if (unseen > 0)
      record.warn(
        `--budget was too short to look at all groups: of ${unseen} of ${ranked.size} those units go first whose weights are least`,
      );
    if (request.given) return { order, measures: null, isCutShort: unseen > 0 };
    const asked = { ...request, order, ranked, whole: prepared.path, block: this.#block };
    const measures = await record.stage("profile", () => measureGroups(asked, record));
    return { order, measures, isCutShort: request.isOver() };
  }

  async #finish(found: Found): Promise<RunResult> {
    const { config, record } = this;
    const { intake, search, chosen } = found;
    if (!search || !chosen) {
      this.#files?.remove();
      return this.#nothingToDo(found);
    }
    const ruling = search.rule(chosen);
    const isPassed = ruling.verdict.outcome === "met";
    record.warn(...ruling.warnings, ...differenceWarnings(chosen.measured.differences ?? []));
    const loss = isPassed ? visibleLoss(chosen.measured.accuracy.facts) : null;
    if (loss !== null) record.warn(loss);
    const write = () => writeJudged(isPassed, chosen.file.path, intake.original, config, record);
    const output = await (this.#files?.write(write) ?? write());
    this.#files?.remove();
    return record.result({
      ...findingsOf(found, search, chosen),
      model: intake.facts,
      verdict: ruling.verdict,
      output,
    });
  }

  #nothingToDo({ intake: { facts }, prepared, map }: Found): RunResult {
    const verdict: Verdict = { status: "fail", outcome: "no-gain", reasons: [], summary: whyNothing(map) };
    return this.record.result({ model: facts, passes: prepared.passes, verdict });
  }
}

export function whyNothing({ groups }: ChannelMap): string {
  if (groups.some((group) => group.frozen === null))
    return "nothing to do: --include and --exclude leave no group of channels that can be narrowed";
  const frozen = groups.find((group) => group.frozen !== null);
  const why = frozen
    ? `no group of channels can be narrowed: ${frozen.name}: ${frozen.frozen}`
    : "it has no groups of channels";
  return `nothing to do: ${why}`;
}

/** What a result says of one of the nets that were found. */
export function findingsOf({ prepared, map, groups }: Found, search: PruneSearch, chosen: Tried) {
  const { measured } = chosen;
  const isPassed = search.rule(chosen).verdict.outcome === "met";
  const { config, record } = search;
  const { target } = placesOf(null, config.runtime.provider, record.context);
  const floatNodes = integerChoices(prepared.model, target);
  return {
    passes: prepared.passes,
    ...(prepared.provenance && { provenance: prepared.provenance }),
    ...(prepared.unfused && { unfused: prepared.unfused }),
    accuracy: measured.accuracy.facts,
    latency: measured.latency?.facts ?? null,
    difference: differenceFacts(measured.differences ?? []),
    candidates: search.tried.map((each) => ({
      name: each.name,
      chosen: each === chosen && isPassed,
      bytes: each.file.bytes,
      quantizedNodes: 0,
      floatNodes,
      ...onlyTimed(each.measured.latency?.facts),
      sqnrDb: null,
      accuracy: each.measured.accuracy.facts.candidate,
      reason: each === chosen ? "chosen" : "",
    })),
    pruning: narrowingFacts(map, chosen, search.tried, groups),
  };
}

/** More than this share of a metric shows in use, whatever the limit was. */
const VISIBLE = 0.01;

function visibleLoss({ metric, baseline, candidate, higherIsBetter }: AccuracyFacts): string | null {
  const share = (higherIsBetter ? baseline - candidate : candidate - baseline) / Math.abs(baseline);
  if (!(share > VISIBLE) || !Number.isFinite(share)) return null;
  return `a visible loss: ${metric} ${candidate.toFixed(4)}, where the original has ${baseline.toFixed(4)}`;
}
