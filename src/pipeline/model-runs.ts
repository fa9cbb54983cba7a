/** Models in memory, run by a runtime that takes files: probes and folds go through the scratch folder. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Model, saveModel } from "../ir/index.js";
import type { Describe, Evaluate } from "../rewrite/index.js";
import type { SessionOptions } from "../runtime/port.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";

/** As the graph stands, with nothing rewritten by the runtime. */
export const asWritten = (config: RuntimeConfig): SessionOptions => session(config, "disabled");

/** As it would be deployed: the runtime may rewrite all it can. */
export const asDelivered = (config: RuntimeConfig): SessionOptions => session(config, "all");

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
  const path = scratchFile(context, "probe");
  saveModel(model, path).commit();
  try {
    return await action(path);
  } finally {
    rmSync(path, { force: true });
  }
}

let files = 0;

/** A name in the scratch folder that nobody has used in this process. */
export const scratchFile = (context: RunContext, what: string): string =>
  join(context.scratch, `${what}-${++files}.onnx`);

export const describer =
  (config: RuntimeConfig, context: RunContext): Describe =>
  (model) =>
    withSaved(model, context, (path) => context.runtime.describe(path, cpuAsWritten(config)));

export const evaluator =
  (config: RuntimeConfig, context: RunContext): Evaluate =>
  (model) =>
    withSaved(model, context, (path) => context.runtime.run(path, new Map(), cpuAsWritten(config)));

/** Folding and probing are the graph's business, not the provider's: the reference is the CPU. */
const cpuAsWritten = (config: RuntimeConfig): SessionOptions => ({ ...asWritten(config), provider: "cpu" });
