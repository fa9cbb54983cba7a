/**
 * `prune --sparsity`: zeros in the weights, and the others fitted to what the original made. The net stays as large and as fast
 * as it was; what is won is that its files compress better, and what runtimes with kernels for such weights make of them.
 */
import { findChannelGroups } from "../../pruning/groups/find-channel-groups.js";
import { NetPair } from "../../pruning/refit/net-pair.js";
import { sliceChannels } from "../../pruning/slice/slice-channels.js";
import { type SparseLayers, sparseLayers } from "../../pruning/sparsity/sparse-layers.js";
import { type Sparsity, sparsityText } from "../../pruning/sparsity/sparsity.js";
import { findTarget, hostTarget } from "../../target/find-target.js";
import { integerChoices, onlyTimed } from "../candidates/candidate-facts.js";
import type { PruneConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { type Intake, takeIn } from "../intake.js";
import { bytesReckoner, writeJudged } from "../output/write-output.js";
import { type Prepared, prepareModel } from "../prepare/prepare.js";
import { requestOf } from "../prepare/prepare-request.js";
import type { RunResult, Verdict } from "../result.js";
import { RunRecord } from "../run-record.js";
import { leftOut } from "../select.js";
import { differenceFacts, differenceWarnings } from "../verify/difference.js";
import { placesOf } from "../verify/other-target.js";
import { compressedBytes } from "./compressed-size.js";
import { fitSamples, LEAST_OPSET } from "./fit-samples.js";
import { PrunedJudge } from "./judge-pruned.js";
import { type PrunedFile, writtenNet } from "./pruned-file.js";
import { type FitSamples, refitNet } from "./refit-net.js";
import { sampleSizes } from "./sample-sizes.js";
import { sparsityFacts } from "./sparsity-facts.js";

export const runSparse = (config: PruneConfig, sparsity: Sparsity, context: RunContext): Promise<RunResult> =>
  new SparseRun(config, sparsity, context).run();

class SparseRun {
  readonly record: RunRecord;
  readonly name: string;

  constructor(
    readonly config: PruneConfig,
    readonly sparsity: Sparsity,
    readonly context: RunContext,
  ) {
    this.record = new RunRecord("prune", context, config.prune.budgetMs);
    this.name = `${sparsityText(sparsity)} zeros`;
  }

  async run(): Promise<RunResult> {
    const { config, sparsity, record, context, name } = this;
    const intake = await record.stage("load", () => takeIn(config, record, "weights"));
    const samples = fitSamples(intake, record);
    const prepared = await record.stage("fuse", () =>
      prepareModel(requestOf(config, intake, "compact", LEAST_OPSET), context),
    );
    record.warn(...prepared.warnings, whatZerosAreFor(config.graph.target, sparsity));
    const { model } = prepared;
    const left = leftOut(model, config.prune.selection);
    const layers = sparseLayers(model, ({ displayName }) => !left.has(displayName), sparsity);
    if (layers.chosen.size === 0) return this.#nothingToDo(intake, prepared, layers);

    const file = await record.stage("prune", () => this.#sparse(prepared, intake, samples, layers), name);
    const judge = new PrunedJudge(config, intake, record);
    const measured = await judge.measureAccuracy(file, name);
    judge.tell(name, null, measured.accuracy.facts);
    if (judge.isAccurate(file, measured)) {
      measured.latency = (await judge.race(file, name, null)).latency;
      judge.tell(name, measured.latency.facts.speedup, measured.accuracy.facts);
    }
    const compressed = await record.stage(
      "write",
      async () => ({ baseline: await compressedBytes(config.model), candidate: await compressedBytes(file.path) }),
      "compressed sizes",
    );
    const ruling = judge.rule({ ...file, compressed }, measured);
    record.warn(...ruling.warnings, ...differenceWarnings(measured.differences ?? []));
    const isPassed = ruling.verdict.outcome === "met";
    const output = await writeJudged(isPassed, file.path, intake.original, config, record);
    const { accuracy, latency } = measured;
    return record.result({
      model: intake.facts,
      output,
      passes: prepared.passes,
      ...(prepared.provenance && { provenance: prepared.provenance }),
      unfused: prepared.unfused,
      accuracy: accuracy.facts,
      latency: latency?.facts ?? null,
      verdict: ruling.verdict,
      difference: differenceFacts(measured.differences ?? []),
      candidates: [
        {
          ...{ name, chosen: isPassed, bytes: file.bytes, quantizedNodes: 0 },
          floatNodes: integerChoices(prepared.model, placesOf(null, config.runtime.provider, context).target),
          ...{ ...onlyTimed(latency?.facts), sqnrDb: null },
          ...{ accuracy: accuracy.facts.candidate, reason: isPassed ? "chosen" : "" },
        },
      ],
      pruning: {
        ...{ groups: [], pareto: [] },
        fitted: file.report?.fitted ?? [],
        unfitted: file.report?.unfitted ?? [],
        sparsity: sparsityFacts(file.path, sparsity, layers, compressed),
      },
    });
  }

  /** The prepared net with zeros, layer after layer from front to back. */
  async #sparse(
    prepared: Prepared,
    { original }: Intake,
    samples: FitSamples,
    { chosen }: SparseLayers,
  ): Promise<PrunedFile> {
    const { context, record } = this;
    const { runtime } = this.config;
    const map = findChannelGroups(prepared.model);
    const sliced = sliceChannels(map, new Map());
    const sparsities = new Map([...chosen].map(([node, sparsity]) => [sliced.nodeOf.get(node)!, sparsity]));
    const pair = new NetPair(map, sliced, new Map(), new Set(sparsities.keys()));
    const sizes = await sampleSizes(prepared.path, samples.data, runtime, context);
    const { progress: onProgress } = record;
    const report = await refitNet({ pair, samples, sizes, runtime, sparsities, onProgress }, context);
    return writtenNet(sliced.model, report, bytesReckoner(original, this.config.out), context);
  }

  #nothingToDo({ facts }: Intake, { passes }: Prepared, { dense }: SparseLayers): RunResult {
    const [first] = dense;
    const why = first ? `${first.node}: ${first.reason}` : "it has no layers with weights";
    const summary = `nothing to do: no layer can get zeros: ${why}`;
    const verdict: Verdict = { status: "fail", outcome: "no-gain", reasons: [], summary };
    return this.record.result({ model: facts, passes, verdict });
  }
}

/** What the place where it is to run makes of the zeros, as its documents say: nothing of it can be measured here. */
function whatZerosAreFor(name: string | undefined, sparsity: Sparsity): string {
  const { title, zeros } = (name === undefined ? null : findTarget(name)) ?? hostTarget;
  if (!zeros) return `for size: ${title} is not known to compute zeros any faster`;
  if (zeros.pattern !== undefined && zeros.pattern !== sparsityText(sparsity))
    return `for size: ${title} is known to compute zeros faster where they are ${zeros.pattern}, and nowhere else`;
  return `${title}: ${zeros.says} (${zeros.source}); this was not measured`;
}
