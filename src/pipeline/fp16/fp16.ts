/**
 * `fp16`: half precision, where the values that were seen in float32 allow it, compared with
 * the original as it would be delivered, and timed against it: on most CPUs it only saves size.
 */
import { InferOptError } from "../../base/errors.js";
import type { DatasetRef } from "../../dataset/index.js";
import { linkModel, loadModel, type Model, nodesWithin, opsetOf } from "../../ir/index.js";
import { type NarrowingReport, toFloat16 } from "../../passes/precision/to-float16.js";
import { makeNamesUnique } from "../../quantization/names.js";
import { annotateTypes } from "../../rewrite/index.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { Fp16Config } from "../config.js";
import type { RunContext } from "../context.js";
import { fixShapes, shapeChanges } from "../fix-shapes.js";
import { type Intake, takeIn } from "../intake.js";
import { madeUpSizes } from "../made-up-sizes.js";
import { measureLatency } from "../measure/latency.js";
import { measurePlacement } from "../measure/placement.js";
import { asDelivered, describer, linkedFile, linkedTwin, removeLinked } from "../model-runs.js";
import { blamed } from "../original-too.js";
import { writeJudged } from "../output/write-output.js";
import { comparisonData, onFirstThatRuns } from "../prepare/comparison-data.js";
import {
  applyAskedOpset,
  highestOpset,
  opsetRaiser,
  preparedOpset,
  raisedNotes,
  settleIrVersion,
  targetOf,
} from "../prepare/raise-opset.js";
import type { LatencyFacts, RunResult, Verdict } from "../result.js";
import { RunRecord } from "../run-record.js";
import { leftOut } from "../select.js";
import { differenceFacts, differenceWarnings } from "../verify/difference.js";
import { judgeAllNaN } from "../verify/nonsense.js";
import { float16Risks } from "./float16-risks.js";
import { findRefused, isOperatorMissing, isRefusal, refusalWarnings } from "./refused-nodes.js";

/**
 * Least mean cosine between the outputs before and after. Half precision keeps 11 bits;
 * healthy models stay above 0.9999, one that overflows somewhere falls far below.
 */
const LEAST_COSINE = 0.99;

/** Milliseconds for the race; the least number of runs may exceed it. */
const RACE_MS = 2000;
/** The first in which operators take bfloat16. */
const BFLOAT16_OPSET = 13;
/** Larger models are not timed: both would lie in memory at once. */
const LARGEST_TIMED = 512 << 20;

export async function runFp16(config: Fp16Config, context: RunContext): Promise<RunResult> {
  const record = new RunRecord("fp16", context);
  const intake = await record.stage("load", () => takeIn(config, record));
  try {
    return await new Fp16Run(config, intake, record).run();
  } catch (thrown) {
    throw await blamed(thrown, config.model, intake, config.runtime, context);
  }
}

class Fp16Run {
  /** What to run the models on, the best first; and the first that they do run on, once that is known. */
  readonly #data: readonly DatasetRef[];
  #runsOn: DatasetRef;
  #risks: ReadonlyMap<string, string> = new Map();
  /** Nodes that the runtime does not take in half precision, with the reason, once it was asked. */
  #refused: ReadonlyMap<string, string> = new Map();

  constructor(
    readonly config: Fp16Config,
    readonly intake: Intake,
    readonly record: RunRecord,
  ) {
    const { model, graph, runtime } = config;
    this.#data = comparisonData(intake.trial, intake.signature, loadModel(model), graph.verify, runtime);
    this.#runsOn = intake.trial;
  }

  async run(): Promise<RunResult> {
    const { config, intake, record } = this;
    const { context } = record;
    const path = linkedFile(context, "half");
    // Outputs of another type compare with nothing: what is judged takes and gives float32 in any case.
    const delivered = config.convertIo ? linkedFile(context, "half") : path;
    let report = await record.stage("convert", async () => {
      this.#risks = await this.#findRisks();
      return this.#convert(true, path);
    });
    const differences = await record.stage("verify", async () => {
      try {
        return await this.#compare(path);
      } catch (thrown) {
        this.#refused = await this.#findRefused(thrown);
        report = await this.#convert(true, path);
        return this.#compare(path);
      }
    });
    if (config.convertIo) report = await record.stage("convert", () => this.#convert(false, delivered));
    record.warn(...(await this.#madeUpWarnings()), ...differenceWarnings(differences));
    // Asked for no comparison, the result need not even run here: no CPU kernel takes bfloat16.
    const runs = { model: path, data: this.#runsOn, config: config.runtime, record };
    const placed = config.graph.verify === "none" ? null : await measurePlacement(runs);
    const worst = differences.find(
      ({ maxAbs, cosine, nanMismatch, mismatch }) =>
        mismatch !== null || nanMismatch > 0 || maxAbs === Number.POSITIVE_INFINITY || cosine < LEAST_COSINE,
    );
    const unproven = judgeAllNaN(differences, "some");
    const latency = worst || unproven ? null : await this.#time(path);
    const verdict: Verdict = unproven
      ? {
          status: "inconclusive",
          outcome: "inconclusive",
          reasons: [unproven],
          summary: `inconclusive: ${unproven.text}`,
        }
      : worst
        ? {
            status: "fail",
            outcome: "accuracy",
            reasons: [],
            summary: `output ${worst.output} is damaged in half precision (cosine ${worst.cosine.toFixed(4)}, ${worst.nanMismatch} new NaN): keep nodes in float with --exclude`,
          }
        : { status: "pass", outcome: "met", reasons: [], summary: "" };
    const original = loadModel(config.model);
    // Before the output may replace the original, where the weights of both lie.
    const made = loadModel(delivered);
    const shapes = config.graph.shapes.size > 0 && { shapes: shapeChanges(original, made) };
    const notes = [...raisedNotes(opsetOf(original), made), ...report.notes];
    const output = await writeJudged(verdict.outcome === "met", delivered, original, config, record);
    const isSmaller = output === null || output.bytes < intake.facts.bytes;
    return record.result({
      model: intake.facts,
      output,
      precision: { target: config.target, float: report.float, notes },
      difference: differenceFacts(differences),
      ...shapes,
      ...(latency && { latency }),
      ...(placed && { placement: placed.facts }),
      verdict: { ...verdict, summary: verdict.summary || summaryOf(report, latency, isSmaller) },
    });
  }

  /** Nodes that half precision would harm, by what flows through them; bfloat16 has the range of float32. */
  async #findRisks(): Promise<ReadonlyMap<string, string>> {
    const { config, record } = this;
    if (config.target !== "f16" || config.graph.verify === "none") return new Map();
    return float16Risks(await this.#load(), this.#data, config.runtime, record);
  }

  async #load(): Promise<Model> {
    const { config, record } = this;
    const model = loadModel(config.model);
    fixShapes(model, config.graph.shapes);
    applyAskedOpset(model, config.graph);
    if (config.target === "bf16") this.#raise(model);
    makeNamesUnique(model);
    const annotation = await annotateTypes(model, describer(config.runtime, record.context), {
      isSized: config.graph.shapes.size > 0,
    });
    if (annotation.problem) record.warn(`types could not be found out by the runtime: ${annotation.problem}`);
    return model;
  }

  /** To where operators take bfloat16, unless the user settled the opset. */
  #raise(model: Model): void {
    const { graph } = this.config;
    if (graph.opset !== undefined || graph.keepOpset || opsetOf(model) >= BFLOAT16_OPSET) return;
    const version = Math.max(BFLOAT16_OPSET, preparedOpset(graph));
    const why = opsetRaiser(highestOpset(graph), targetOf(graph))(model, version);
    if (why !== null) {
      this.record.warn(
        `operators take bfloat16 from opset ${BFLOAT16_OPSET} on, and the model stays at ${opsetOf(model)}: ${why}`,
      );
    }
  }

  async #convert(
    keepIo: boolean,
    to: string,
    refused: ReadonlyMap<string, string> = this.#refused,
  ): Promise<NarrowingReport> {
    const { target, selection, graph } = this.config;
    const model = await this.#load();
    const kept = leftOut(model, selection);
    const report = toFloat16(model, {
      keepIo,
      target,
      keep: ({ displayName }) =>
        kept.get(displayName) ?? refused.get(displayName) ?? this.#risks.get(displayName) ?? null,
    });
    settleIrVersion(model, graph);
    linkModel(model, to);
    return report;
  }

  /** What nobody gave samples for was found out with inputs that the user has not seen. */
  async #madeUpWarnings(): Promise<readonly string[]> {
    if (!this.#runsOn.random || this.config.graph.verify === "none") return [];
    const sizes = await madeUpSizes(this.#runsOn);
    const open = sizes === null ? "" : `, of sizes that the model leaves open (${sizes})`;
    return [`run on made-up inputs${open}: give samples with --eval${sizes === null ? "" : ", or sizes with --shape"}`];
  }

  /** On the first data that the original runs on. */
  async #compare(path: string): Promise<readonly OutputDifference[]> {
    const { config, record } = this;
    const { context } = record;
    if (config.graph.verify === "none") {
      record.warn("the result was not compared with the original: --verify none was asked for");
      return [];
    }
    const baseline = linkedTwin(config.model, context);
    const session = asDelivered(config.runtime);
    const tried = await onFirstThatRuns(
      this.#data,
      (data) => context.runtime.compare({ baseline, candidate: path, data, session }),
      (fault, { random }) => !random || isOperatorMissing(fault),
    );
    if ("problem" in tried) throw tried.problem;
    this.#runsOn = tried.on;
    return tried.result;
  }

  /** What stays in float32 so that the rest runs, by name; throws the fault where it is another's, or of too many nodes. */
  async #findRefused(thrown: unknown): Promise<ReadonlyMap<string, string>> {
    const { config, record } = this;
    if (!isRefusal(thrown)) throw thrown;
    // No kernel of a CPU takes bfloat16: one by one, all nodes would go back to float32.
    const isHopeless = config.target === "bf16" && isOperatorMissing(thrown);
    record.doing("verify", "which nodes the runtime refuses");
    const path = linkedFile(record.context, "trial");
    const refused = isHopeless
      ? null
      : await findRefused(thrown, {
          nodes: [...nodesWithin((await this.#load()).graph)],
          narrow: async (kept) => {
            await this.#convert(true, path, kept);
            return path;
          },
          ...{ baseline: linkedTwin(config.model, record.context), data: this.#data, runtime: config.runtime },
          context: record.context,
        }).finally(() => removeLinked(path));
    if (!refused) throw isOperatorMissing(thrown) ? kernelless(thrown, config) : thrown;
    record.warn(...refusalWarnings(refused));
    return refused;
  }

  /** A short race against the original; null where there is none. */
  async #time(path: string): Promise<LatencyFacts | null> {
    const { config, intake, record } = this;
    if (config.graph.verify === "none" || intake.facts.bytes > LARGEST_TIMED) return null;
    try {
      const { candidates } = await record.stage("bench", () =>
        measureLatency(record.context, {
          baseline: config.model,
          candidates: [path],
          data: this.#runsOn,
          runtime: { ...config.runtime, benchMs: Math.min(RACE_MS, config.runtime.benchMs) },
          minSpeedup: null,
          slo: [],
          onProgress: record.progress,
        }),
      );
      return candidates[0]!.facts;
    } catch (thrown) {
      if (!(thrown instanceof InferOptError) || thrown.kind !== "runtime") throw thrown;
      record.warn(`the result was not timed: ${thrown.message}`);
      return null;
    }
  }
}

/** What to do, where the provider has no kernel for the narrow type. */
function kernelless(thrown: InferOptError, { target, runtime }: Fp16Config): InferOptError {
  const type = target === "f16" ? "float16" : "bfloat16";
  const other = target === "f16" ? "" : "leave out --bf16, or ";
  const why = `provider ${runtime.provider} cannot run the model in ${type}: ${String(thrown.fields["reason"])}`;
  return new InferOptError("MODEL_REJECTED", "input", why, {
    hint: `Keep such nodes in float with --exclude op:TYPE, ${other}write it without running it with --verify none.`,
    cause: thrown,
    fields: thrown.fields,
  });
}

export function summaryOf(
  { narrow, float }: Pick<NarrowingReport, "narrow" | "float">,
  latency: Pick<LatencyFacts, "speedup" | "speedupInterval"> | null,
  isSmaller: boolean,
): string {
  const kept = `${float.length} ${float.length === 1 ? "node" : "nodes"} kept in float32`;
  if (narrow === 0) return `nothing became half precision, ${kept}`;
  const half = `half precision, ${kept}`;
  if (!latency) return isSmaller ? half : `${half}; the file is not smaller`;
  const [low, high] = latency.speedupInterval;
  const speed = `${latency.speedup.toFixed(2)}x as fast here (${low.toFixed(2)} to ${high.toFixed(2)})`;
  if (low > 1) return `${half}, ${speed}`;
  return `${half}; ${speed}: on this provider it saves ${isSmaller ? "size, not time" : "neither size nor time"}`;
}
