/**
 * `explain`: why passes declined, why nodes that one would expect to be fused are still there, and
 * why nodes stayed float. From a saved result, which knows what a run really did; or from a model,
 * by running the passes on a copy in memory.
 */
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { InferOptError } from "../../base/errors.js";
import { nearestName } from "../../base/nearest.js";
import type { FloatNode } from "../../quantization/plan-static.js";
import type { GraphConfig, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import type { PassFacts, RegionFacts } from "../result.js";
import { globMatcher } from "../select.js";
import type { UnfusedNode } from "../unfused/find-unfused.js";
import { explainResult } from "./explain-result.js";

export interface Explanation {
  readonly path: string;
  readonly source: "result" | "model";
  readonly passes: readonly Omit<PassFacts, "durationMs">[];
  /** Nodes that one would expect to be fused and that are still there, in the order of the graph. */
  readonly unfused: readonly UnfusedNode[];
  /** What `--runtime-specific` would fuse besides; nothing where it was given, or where a result is explained. */
  readonly runtimeSpecific: readonly PassHint[];
  /** What `--lossy` would approximate; nothing where a result is explained. */
  readonly lossy: readonly PassHint[];
  readonly float: readonly FloatNode[];
  /** What was moved between integers and float as one, where a result says so. */
  readonly regions?: readonly RegionFacts[];
  /** The nodes asked for with `--node`, where a model is explained. */
  readonly nodes: readonly ExplainedNode[];
  /** What to know about this explanation. */
  readonly notes: readonly string[];
}

/** What a pass that was not asked for would do, and where. */
export interface PassHint {
  readonly pass: string;
  readonly nodes: readonly string[];
}

/** Everything about one node of the rewritten graph, or about one of the model that is gone. */
export interface ExplainedNode {
  readonly node: string;
  readonly op: string;
  /** Whether the rewritten graph still has it. */
  readonly remains: boolean;
  /** Nodes of the model that it stands for, where that is not itself alone. */
  readonly standsFor: readonly string[];
  /** Passes that changed something at it, in their order. */
  readonly changedBy: readonly string[];
  /** Passes that look at nodes of its kind, with what they said; null: it is not what they look for. */
  readonly asked: readonly { readonly pass: string; readonly answer: string | null }[];
}

export interface ExplainConfig {
  /** A saved result (.json) or a model. */
  readonly path: string;
  /** Of a result that is in no file, or was read already: then `path` is only what it is called. */
  readonly text?: string;
  /** A glob over node names; everything when null. */
  readonly nodes: string | null;
  readonly runtime: RuntimeConfig;
  /** What `fuse` would be given; its defaults when absent. Nothing is compared, whatever `verify` says. */
  readonly graph?: GraphConfig;
}

/**
 * @param context null: without the runtime, passes know fewer shapes and fold nothing
 * Throws EXPLAIN_MISSING, RESULT_INVALID, RESULT_VERSION, SELECTOR_EMPTY, or what loading a model throws.
 */
export async function runExplain(config: ExplainConfig, context: RunContext | null): Promise<Explanation> {
  const text = config.text ?? (isResult(config.path) ? readFileSync(config.path, "utf8") : null);
  const explanation =
    text !== null
      ? explainResult(config.path, text)
      : await (await import("./explain-model.js")).explainModel(config, context);
  return config.nodes === null ? explanation : onlyNodes(explanation, config.nodes);
}

/** Whether it is a result, which needs no runtime to be explained. Throws EXPLAIN_MISSING. */
export function isResult(path: string): boolean {
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
    // No model begins with a brace, and every result does.
    return head.toString("latin1", 0, length).trimStart().startsWith("{");
  } finally {
    closeSync(fd);
  }
}

function onlyNodes({ regions: allRegions = [], ...explanation }: Explanation, glob: string): Explanation {
  const isGlob = globMatcher(glob);
  const asked = new Set(explanation.nodes.map(({ node }) => node));
  const matches = (node: string): boolean => asked.has(node) || isGlob(node);
  const passes = explanation.passes
    .map((pass) => ({ ...pass, skipped: pass.skipped.filter(({ node }) => matches(node)) }))
    .filter(({ skipped }) => skipped.length > 0);
  const unfused = explanation.unfused.filter(({ node }) => matches(node));
  const matching = (hints: readonly PassHint[]): PassHint[] =>
    hints.map((hint) => ({ ...hint, nodes: hint.nodes.filter(matches) })).filter(({ nodes }) => nodes.length > 0);
  const runtimeSpecific = matching(explanation.runtimeSpecific);
  const lossy = matching(explanation.lossy);
  const float = explanation.float.filter(({ node }) => matches(node));
  const regions = allRegions.filter((region) => region.nodes.some(matches));
  const found = [asked, new Set(passes), new Set(unfused), new Set(float), new Set(regions)].some(
    ({ size }) => size > 0,
  );
  if (found)
    return { ...explanation, passes, unfused, runtimeSpecific, lossy, float, ...(regions.length > 0 && { regions }) };

  const { passes: all, unfused: left, float: kept } = explanation;
  const names = [...all.flatMap(({ skipped }) => skipped), ...left, ...kept].map(({ node }) => node);
  const nearest = nearestName(glob, names);
  const more = explanation.source === "result" ? " Explain the model itself to ask about any of its nodes." : "";
  throw new InferOptError("SELECTOR_EMPTY", "input", `nothing is known about a node "${glob}" in ${explanation.path}`, {
    hint:
      nearest === null
        ? `No node was declined or left float.${more}`
        : `The nearest name that something is known about is ${nearest}.${more}`,
    fields: { selector: glob, nearest: nearest === null ? [] : [nearest] },
  });
}
