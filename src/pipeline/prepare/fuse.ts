/** `fold` and `fuse`: the graph is rewritten, compared with the original, and written. */
import { loadModel, type Model, opsetOf } from "../../ir/index.js";
import { refusedByTarget } from "../../target/refused-by-target.js";
import type { FuseConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { shapeChanges } from "../fix-shapes.js";
import { takeInLoaded } from "../intake.js";
import { type FileForm, formOf, type StagedOutput, stageOutput } from "../output/write-output.js";
import type { ModelFacts, RunResult } from "../result.js";
import { RunRecord } from "../run-record.js";
import { differenceFacts } from "../verify/difference.js";
import { approximate, lossyText } from "./lossy.js";
import { prepareModel } from "./prepare.js";
import { type PrepareRequest, requestOf } from "./prepare-request.js";
import { raisedNotes } from "./raise-opset.js";
import { chooseRuntimeSpecific, runtimeSpecificText } from "./runtime-specific.js";

type Config = FuseConfig & { readonly recipe: "fold" | "fuse" };

export async function runFuse(config: Config, context: RunContext): Promise<RunResult> {
  const output = new Output(config);
  try {
    return await fuse(config, context, output);
  } finally {
    output.discard();
  }
}

async function fuse(config: Config, context: RunContext, output: Output): Promise<RunResult> {
  const record = new RunRecord(config.recipe, context);
  const loaded = await record.stage("load", () => loadModel(config.model));
  const original = { ...formOf(loaded), opset: opsetOf(loaded) };
  const wantsSpecific = config.recipe === "fuse" && config.graph.runtimeSpecific;
  const wantsLossy = config.recipe === "fuse" && config.graph.lossy === true;
  const requestFor = (intake: PrepareRequest["intake"]): PrepareRequest => ({
    ...requestOf(config, intake, config.recipe),
    // Folding promises the same bits, and the same opset.
    ...(config.recipe === "fold" && { graph: { ...config.graph, keepOpset: true } }),
    // Most often it is right, and written by the time that this is known.
    ...(!wantsSpecific && !wantsLossy && { meanwhile: (model) => output.stage(model, original) }),
  });
  const [[judgement, facts], portable] = await record.stage("fuse", () => {
    // While the runtime is asked about the file, and the file is read for its digest, the passes run.
    const { judged, facts } = takeInLoaded(loaded, config, record, "graph");
    const preparing = prepareModel({ ...requestFor(judged), loaded }, context);
    return soundFirst(Promise.all([judged, facts]), preparing);
  });
  const request = requestFor(judgement);
  const choice = wantsSpecific ? await chooseRuntimeSpecific(portable, request, record) : null;
  const exact = choice?.prepared ?? portable;
  const lossy = wantsLossy ? await approximate(exact, request, record) : null;
  const prepared = lossy?.prepared ?? exact;
  record.warn(...prepared.warnings);
  const refused = refusedByTarget(prepared.model, config.graph.target);
  if (refused) record.warn(refused);
  // Of the input as it was: the output may replace it.
  const shapes = config.graph.shapes.size > 0 && { shapes: shapeChanges(loadModel(config.model), prepared.model) };
  const written = await record.stage("write", () => output.commit(prepared.model, original, record));
  const applied = prepared.passes.reduce((sum, pass) => sum + pass.applied, 0);
  const raised = raisedNotes(original.opset, prepared.model)
    .map((note) => `, ${note}`)
    .join("");
  const summary = [
    applied === 0
      ? `nothing to ${config.recipe}${raised}`
      : `${applied} ${applied === 1 ? "rewrite" : "rewrites"}${raised}`,
    ...(choice ? [runtimeSpecificText(choice.facts)] : []),
    ...(lossy ? [lossyText(lossy.facts)] : []),
  ].join("; ");
  return record.result({
    model: facts,
    output: written,
    passes: prepared.passes,
    ...(prepared.provenance && { provenance: prepared.provenance }),
    unfused: prepared.unfused,
    difference: differenceFacts(prepared.differences),
    equivalence: prepared.equivalence,
    ...shapes,
    ...(choice && { runtimeSpecific: choice.facts }),
    ...(lossy && { lossy: lossy.facts }),
    verdict: { status: "pass", outcome: "met", reasons: [], summary },
  });
}

/** Both, unless one fails; what is wrong with the file, or with the data, is told first. */
async function soundFirst<I, P>(intake: Promise<I>, prepared: Promise<P>): Promise<[I, P]> {
  const [first, second] = await Promise.allSettled([intake, prepared]);
  if (first.status === "rejected") throw first.reason;
  if (second.status === "rejected") throw second.reason;
  return [first.value, second.value];
}

/** The file that the user wants, written ahead where that can be. */
class Output {
  #model: Model | null = null;
  #staged: StagedOutput | null = null;

  constructor(readonly config: Config) {}

  stage(model: Model, original: FileForm): void {
    this.discard();
    this.#staged = stageOutput(model, original, this.config.out);
    this.#model = model;
  }

  commit(model: Model, original: FileForm, record: RunRecord): ModelFacts | null {
    if (model !== this.#model) this.stage(model, original);
    return this.#staged?.commit(record) ?? null;
  }

  discard(): void {
    this.#staged?.discard();
    this.#staged = null;
    this.#model = null;
  }
}
