/**
 * `explain`: why passes declined and nodes stayed float. From a saved result, which knows
 * what a run really did; or from a model, by running the passes on a copy in memory.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { InferOptError } from "../base/errors.js";
import { nearestName } from "../base/nearest.js";
import { loadModel, type Model, opsetOf } from "../ir/index.js";
import { catalog } from "../passes/catalog.js";
import { type FloatNode, planStatic } from "../quantization/plan-static.js";
import { annotateTypes, runPasses } from "../rewrite/index.js";
import { integerTarget } from "../target/integer-kernels.js";
import { widestPlacement } from "./calibration.js";
import type { RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { describer, evaluator } from "./model-runs.js";
import { opsetRaiser } from "./raise-opset.js";
import type { PassFacts } from "./result.js";
import { parseSavedResult } from "./saved-result.js";
import { globMatcher } from "./select.js";

export interface Explanation {
  readonly path: string;
  readonly source: "result" | "model";
  readonly passes: readonly Omit<PassFacts, "durationMs">[];
  readonly float: readonly FloatNode[];
  /** What to know about this explanation. */
  readonly notes: readonly string[];
}

export interface ExplainConfig {
  /** A saved result (.json) or a model. */
  readonly path: string;
  /** A glob over node names; everything when null. */
  readonly nodes: string | null;
  readonly runtime: RuntimeConfig;
}

/**
 * @param context null: without the runtime, passes know fewer shapes and fold nothing
 * Throws EXPLAIN_MISSING, RESULT_INVALID, RESULT_VERSION, SELECTOR_EMPTY, or what loading a model throws.
 */
export async function runExplain(config: ExplainConfig, context: RunContext | null): Promise<Explanation> {
  const explanation = isJson(config.path)
    ? explainResult(config.path, readFileSync(config.path, "utf8"))
    : await explainModel(config, context);
  return config.nodes === null ? explanation : onlyNodes(explanation, config.nodes);
}

/** No model begins with a brace, and every result does. */
function isJson(path: string): boolean {
  // Loading it as a model says what is wrong with a folder.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) return false;
  const head = Buffer.alloc(64);
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (cause) {
    throw new InferOptError("EXPLAIN_MISSING", "input", `there is no file ${path}`, {
      hint: "Name a result that --json or --report wrote, or a model.",
      cause,
      fields: { path },
    });
  }
  try {
    const length = readSync(fd, head);
    return head.toString("latin1", 0, length).trimStart().startsWith("{");
  } finally {
    closeSync(fd);
  }
}

function explainResult(path: string, text: string): Explanation {
  const { command, passes, quantization, precision } = parseSavedResult(path, text);
  const why = quantization ? [`quantized ${quantization.mode}: ${quantization.why}`] : [];
  return {
    path,
    source: "result",
    passes,
    float: [...(quantization?.float ?? []), ...(precision?.float ?? [])],
    notes: [`what \`${command}\` did`, ...why],
  };
}

async function explainModel({ path, runtime }: ExplainConfig, context: RunContext | null): Promise<Explanation> {
  const model = loadModel(path);
  const notes = [
    `what would happen from opset ${opsetOf(model)} on, as the model stands; commands that write one may raise it first`,
  ];
  if (context) {
    const { problem } = await annotateTypes(model, describer(runtime, context));
    if (problem) notes.push(`shapes could not be found out, so fewer passes apply: ${problem}`);
  } else {
    notes.push("without the runtime: fewer shapes are known and constants are not folded");
  }
  const reports = await runPasses(model, catalog, {
    raiseOpset: opsetRaiser(),
    ...(context && { evaluate: evaluator(runtime, context), signal: context.signal, clock: context.now }),
  });
  return {
    path,
    source: "model",
    passes: reports.map(({ name, applied, skipped }) => ({ name, applied, skipped })),
    float: floatNodes(model, runtime, context),
    notes,
  };
}

/** What static quantization would leave float on this machine, on the graph alone. */
function floatNodes(model: Model, { provider }: RuntimeConfig, context: RunContext | null): readonly FloatNode[] {
  const target = integerTarget(provider, process.arch, context?.environment.flags ?? []);
  return planStatic(model, target, widestPlacement).float;
}

function onlyNodes(explanation: Explanation, glob: string): Explanation {
  const matches = globMatcher(glob);
  const passes = explanation.passes
    .map((pass) => ({ ...pass, skipped: pass.skipped.filter(({ node }) => matches(node)) }))
    .filter(({ skipped }) => skipped.length > 0);
  const float = explanation.float.filter(({ node }) => matches(node));
  if (passes.length > 0 || float.length > 0) return { ...explanation, passes, float };

  const names = [...explanation.passes.flatMap(({ skipped }) => skipped), ...explanation.float].map(({ node }) => node);
  const nearest = nearestName(glob, names);
  throw new InferOptError("SELECTOR_EMPTY", "input", `nothing is known about a node "${glob}" in ${explanation.path}`, {
    hint:
      nearest === null
        ? "No node was declined or left float."
        : `The nearest name that something is known about is ${nearest}.`,
    fields: { selector: glob, nearest: nearest === null ? [] : [nearest] },
  });
}
