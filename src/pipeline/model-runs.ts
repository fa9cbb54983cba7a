/** Models in memory, run by a runtime that takes files: probes and folds go through the scratch folder. */
import { rmSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { InferOptError } from "../base/errors.js";
import { linkModel, type Model } from "../ir/index.js";
import { isLinked, linkedSuffix, linkModelFile } from "../onnx/index.js";
import type { Describe, Evaluate } from "../rewrite/index.js";
import type { SessionOptions } from "../runtime/port.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";

/** As the graph stands, with nothing rewritten by the runtime. */
export const asWritten = (config: RuntimeConfig): SessionOptions => session(config, "disabled");

/** As it would be deployed: the runtime may rewrite all it can. */
export const asDelivered = (config: RuntimeConfig): SessionOptions => ({
  ...session(config, "all"),
  ...(config.affinity && { affinity: config.affinity }),
});

/**
 * Threads of runs that are not timed. Partial sums, and so the last bits of results, may depend on how many
 * threads share the work: they are as many on every machine, whatever number the model is timed with.
 */
const UNTIMED_THREADS = 2;

type Form = (config: RuntimeConfig) => SessionOptions;

/**
 * For runs whose answers count: sums are those of the place that the model is for. What is timed has the kernels of this one. Models
 * take turns, and threads of one that waited awake would keep the other, and whatever else the machine does, from their processors.
 */
export const answering = (config: RuntimeConfig, as: Form = asDelivered): SessionOptions => ({
  ...as(config),
  waiting: "asleep",
  ...(config.isExact && { isExact: true }),
});

/**
 * As the graph stands, with sums as above: the runtime makes those of integer operators exact by a rewrite of its own, which it does
 * not do before `extended`.
 */
export const answeringAsWritten = (config: RuntimeConfig): SessionOptions =>
  answering(config, (given) => ({ ...asWritten(given), ...(given.isExact && { optimization: "extended" }) }));

/** For runs whose answers count, and not how long they take. */
export const untimed = (config: RuntimeConfig, as: Form = asDelivered): SessionOptions => ({
  ...answering(config, as),
  threads: UNTIMED_THREADS,
});

/** The same where last bits do not matter: as many threads at least. */
export const untimedRoughly = (config: RuntimeConfig, as: Form = asDelivered): SessionOptions => ({
  ...untimed(config, as),
  threads: Math.max(UNTIMED_THREADS, config.threads),
});

/** Made-up inputs may send a model into a loop without end: it gets this long for a run of them. */
export const MADE_UP_TIMEOUT_MS = 180_000;

const session = (config: RuntimeConfig, optimization: SessionOptions["optimization"]): SessionOptions => ({
  provider: config.provider,
  threads: config.threads,
  allowFallback: config.allowFallback,
  optimization,
});

/** Saves a model to the scratch folder for the time of one action. */
export async function withSaved<T>(
  model: Model,
  context: RunContext,
  action: (path: string) => Promise<T>,
): Promise<T> {
  const path = linkedFile(context, "probe");
  linkModel(model, path);
  tellOrigin(path, model, context);
  try {
    return await action(path);
  } finally {
    context.origins?.delete(path);
    removeLinked(path);
  }
}

/** Where the model came from a file of its own, and not from the scratch folder: no name there says anything to a user. */
function tellOrigin(path: string, model: Model, { origins, scratch }: RunContext): void {
  if (model.path !== "" && !model.path.startsWith(scratch + sep)) origins?.set(path, `what was made of ${model.path}`);
}

let files = 0;

/** A name in the scratch folder that nobody has used in this process. */
export const scratchFile = (context: RunContext, what: string): string =>
  join(context.scratch, `${what}-${++files}.onnx`);

/** The same for samples that will be read again. */
export const samplesFile = (context: RunContext): string => join(context.scratch, `samples-${++files}`);

/** The same for a model whose weights stay where they are. */
export const linkedFile = (context: RunContext, what: string): string =>
  join(context.scratch, `${what}-${++files}${linkedSuffix()}`);

/** Models up to this size are loaded as they are; larger ones by a twin whose weights are not copied. */
const LINKED_FROM = 16 << 20;

const twins = new WeakMap<RunContext, Map<string, string>>();

/** A model file in the form that takes the least memory to load: itself where it is small. One twin for each run. */
export function linkedTwin(path: string, context: RunContext): string {
  // That a file is missing is for loading to say.
  if (isLinked(path) || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) < LINKED_FROM) return path;
  const known = twins.get(context) ?? new Map<string, string>();
  twins.set(context, known);
  let twin = known.get(path);
  if (twin === undefined) {
    twin = linkedFile(context, "original");
    context.origins?.set(twin, path);
    linkModelFile(path, twin);
    known.set(path, twin);
  }
  return twin;
}

/** By code: what a model itself may be to blame for. */
export const modelFaults: ReadonlySet<string> = new Set(["MODEL_REJECTED", "RUN_FAILED", "RUNTIME_CRASHED"]);

/** Whether the system ended the process, for want of memory most often. */
export const isKilled = ({ fields }: InferOptError): boolean => fields["signal"] === "SIGKILL";

/**
 * Asks once more where the process died: killed from outside, perhaps, for want of memory. What
 * the model itself does happens again, and is told then.
 */
export async function despiteCrash<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof InferOptError) || thrown.code !== "RUNTIME_CRASHED") throw thrown;
    return ask();
  }
}

/** With the weights that were put beside it. */
export function removeLinked(path: string): void {
  rmSync(path, { force: true });
  rmSync(`${path}.data`, { force: true });
}

export const describer =
  (config: RuntimeConfig, context: RunContext): Describe =>
  (model) =>
    withSaved(model, context, (path) =>
      despiteCrash(() => context.runtime.describe(path, cpuAsWritten(config), { isRough: true })),
    );

/** What takes longer to compute is no constant worth folding, or a loop without end. */
const FOLDING_TIMEOUT_MS = 60_000;

export const evaluator =
  (config: RuntimeConfig, context: RunContext): Evaluate =>
  (model) =>
    withSaved(model, context, (path) =>
      despiteCrash(() =>
        context.runtime.run(path, new Map(), { ...cpuAsWritten(config), timeoutMs: FOLDING_TIMEOUT_MS }),
      ),
    );

/** Folding and probing are the graph's business, not the provider's: the reference is the CPU. */
const cpuAsWritten = (config: RuntimeConfig): SessionOptions => ({ ...asWritten(config), provider: "cpu" });
