/** What `fuse` would do with a model, on a copy in memory: nothing is compared or written. */
import { loadModel, type Model, type Node, nodesWithin, opsetOf, type Tensor } from "../../ir/index.js";
import { quantizedFormOf } from "../../ops/quantizing.js";
import { approximations, catalog, recipes, runtimeFusions } from "../../passes/catalog.js";
import { type FloatNode, planStatic } from "../../quantization/plan-static.js";
import {
  type AnyPass,
  annotateTypes,
  PassFailure,
  type PassReport,
  runPasses,
  tryRewrite,
} from "../../rewrite/index.js";
import { type IntegerTarget, kernelFor } from "../../target/integer-kernel.js";
import { integerTarget, integerTargetNamed } from "../../target/integer-kernels.js";
import { widestPlacement } from "../calibrate/calibration.js";
import type { GraphConfig, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { fixShapes } from "../fix-shapes.js";
import { describer, evaluator, scratchFile } from "../model-runs.js";
import { refuseUnknownPass } from "../prepare/prepare.js";
import {
  applyAskedOpset,
  highestOpset,
  opsetRaiser,
  preparedOpset,
  raisedNotes,
  raiseOpset,
  targetOf,
  whyKept,
} from "../prepare/raise-opset.js";
import { ScratchWeights } from "../scratch-weights.js";
import { findUnfused, type PassWord } from "../unfused/find-unfused.js";
import type { ExplainConfig, Explanation, PassHint } from "./explain.js";
import { explainNodes } from "./explain-nodes.js";

/** What a run of the passes leaves to be asked about. */
export interface Rewritten {
  readonly model: Model;
  /** Operators of the model as it was, by the names of the nodes. */
  readonly originals: ReadonlyMap<string, string>;
  readonly reports: readonly PassReport[];
  /** Passes that changed something at a node, by its name. */
  readonly changes: ReadonlyMap<string, ReadonlySet<string>>;
  readonly words: readonly PassWord[];
  readonly notes: readonly string[];
  drop(): void;
}

const defaults: GraphConfig = {
  skip: [],
  only: [],
  shapes: new Map(),
  keepOpset: false,
  foldBudgetBytes: 1 << 20,
  check: false,
  verify: "none",
  bisect: false,
  runtimeSpecific: false,
};

/** @param context null: without the runtime, passes know fewer shapes and fold nothing */
export async function explainModel(config: ExplainConfig, context: RunContext | null): Promise<Explanation> {
  const { path, runtime, nodes, graph = defaults } = config;
  const rewritten = await rewrite(config, context, new Map());
  try {
    const { model, reports, words, notes } = rewritten;
    const quantized = quantizedNodes(model);
    return {
      path,
      source: "model",
      passes: reports.map(({ name, applied, skipped }) => ({ name, applied, skipped })),
      unfused: findUnfused(model, words),
      runtimeSpecific: graph.runtimeSpecific ? [] : hintsOf(runtimeFusions, model, graph),
      lossy: hintsOf(approximations, model, graph),
      float: floatNodes(model, runtime, graph.target, context),
      nodes: nodes === null ? [] : explainNodes(rewritten, nodes, passesOf(graph)),
      notes:
        quantized === 0
          ? notes
          : [...notes, `the model is quantized already: ${quantized} nodes quantize or compute on integers`],
    };
  } finally {
    rewritten.drop();
  }
}

const passesOf = ({ runtimeSpecific }: GraphConfig): readonly AnyPass[] =>
  runtimeSpecific ? [...catalog, ...runtimeFusions] : catalog;

/**
 * The model as `fuse` leaves it, compared with nothing. Call `drop` of the result once it is not needed any more.
 * @param failed passes that broke an invariant before, with what they said: they are left out
 */
export async function rewrite(
  config: ExplainConfig,
  context: RunContext | null,
  failed: ReadonlyMap<string, string> = new Map(),
): Promise<Rewritten> {
  const { path, runtime, graph = defaults } = config;
  for (const name of [...graph.skip, ...graph.only]) refuseUnknownPass(name);
  const model = loadModel(path);
  const originals = new Map([...nodesWithin(model.graph)].map(({ displayName, opName }) => [displayName, opName]));
  fixShapes(model, graph.shapes);
  const from = opsetOf(model);
  const target = targetOf(graph);
  const notes = prepareOpset(model, graph);
  const describe = context && describer(runtime, context);
  const isSized = graph.shapes.size > 0;
  if (describe) {
    const { problem } = await annotateTypes(model, describe, { isSized });
    if (problem) notes.push(`shapes could not be found out, so fewer passes apply: ${problem}`);
  } else {
    notes.push("without the runtime: fewer shapes are known and constants are not folded");
  }
  const weights = context && new ScratchWeights(scratchFile(context, "weights"));
  const drop = (): void => weights?.drop();
  const changes = new Map<string, Set<string>>();
  const mayRaise = !graph.keepOpset && graph.opset === undefined;
  const run = (passes: readonly AnyPass[], newest: boolean): Promise<PassReport[]> =>
    runPasses(
      model,
      passes.filter((pass) => absenceOf(pass, graph, failed) === undefined),
      {
        foldGrowthBytes: graph.foldBudgetBytes,
        raiseOpset: mayRaise && newest ? opsetRaiser(highestOpset(graph), target) : () => whyKept(graph),
        ...(describe && { annotate: (each) => annotateTypes(each, describe, { isRepeated: true, isSized }) }),
        ...(weights && { store: weights.store }),
        ...(target && { target }),
        ...(context && { evaluate: evaluator(runtime, context), signal: context.signal, clock: context.now }),
        onEvent: (event) => {
          if (event.type !== "applied") return;
          const passesHere = changes.get(event.node);
          if (passesHere) passesHere.add(event.pass);
          else changes.set(event.node, new Set([event.pass]));
        },
      },
    );
  try {
    const reports = await run(catalog, true);
    if (graph.runtimeSpecific) mergeInto(reports, await run(recipes.runtime, false));
    const words = passesOf(graph).map(({ name }): PassWord => {
      const absent = absenceOf({ name }, graph, failed);
      const skipped = reports.find((report) => report.name === name)?.skipped ?? [];
      return { name, skipped, ...(absent !== undefined && { absent }) };
    });
    const raised = raisedNotes(from, model);
    return { model, originals, reports, changes, words, notes: [...raised, ...notes, ...failed.values()], drop };
  } catch (thrown) {
    drop();
    if (!(thrown instanceof PassFailure) || failed.has(thrown.pass)) throw thrown;
    return rewrite(config, context, new Map([...failed, [thrown.pass, `pass left out: ${thrown.message}`]]));
  }
}

/** Why a pass does not run; undefined when it does. */
function absenceOf(
  { name }: Pick<AnyPass, "name">,
  { skip, only }: GraphConfig,
  failed: ReadonlyMap<string, string>,
): string | undefined {
  if (failed.has(name)) return failed.get(name);
  return skip.includes(name) || (only.length > 0 && !only.includes(name)) ? "it was left out" : undefined;
}

/** As `fuse` does before the passes run; why that failed, where it did. */
function prepareOpset(model: Model, graph: GraphConfig): string[] {
  const from = opsetOf(model);
  applyAskedOpset(model, graph);
  const wanted = preparedOpset(graph);
  const mayRaise = !graph.keepOpset && graph.opset === undefined && model.opsets.has("");
  const problem = mayRaise && from < wanted ? raiseOpset(model, wanted, targetOf(graph)) : null;
  return problem === null ? [] : [`the opset stays at ${from}: ${problem}`];
}

/** A second run's word on a pass counts, and its rewrites come on top. */
function mergeInto(reports: PassReport[], later: readonly PassReport[]): void {
  for (const report of later) {
    const at = reports.findIndex(({ name }) => name === report.name);
    if (at < 0) reports.push(report);
    else reports[at] = { ...report, applied: reports[at]!.applied + report.applied };
  }
}

/** Where passes that were not asked for would begin. Nothing changes. */
function hintsOf(passes: readonly AnyPass[], model: Model, graph: GraphConfig): readonly PassHint[] {
  const surroundings = { model, store: (tensor: Tensor) => tensor, target: targetOf(graph), memory: new Map() };
  const nodes = [...nodesWithin(model.graph)];
  return passes.flatMap((pass) => {
    if (pass.kind !== "rewrite") return [];
    const found = nodes
      .filter(({ opName }) => pass.roots.includes(opName))
      .filter((node) => tryRewrite(pass, node, surroundings, opsetOf(model)).kind === "applied");
    return found.length === 0 ? [] : [{ pass: pass.name, nodes: found.map(({ displayName }) => displayName) }];
  });
}

/** What static quantization would leave float on the target or this machine, on the graph alone. */
function floatNodes(
  model: Model,
  { provider }: RuntimeConfig,
  name: string | undefined,
  context: RunContext | null,
): readonly FloatNode[] {
  const here = integerTarget(provider, process.arch, context?.environment.flags ?? []);
  const target = integerTargetNamed(name, here);
  const { nodes, float } = planStatic(model, target, widestPlacement);
  const listed = new Set([...nodes.map(({ node }) => node.displayName), ...float.map(({ node }) => node)]);
  const integers = new Set(nodes.flatMap(({ outputs }) => outputs));
  const behind = [...model.graph.nodes()].filter(
    ({ displayName, inputs }) => !listed.has(displayName) && inputs.some((value) => value && integers.has(value)),
  );
  return [
    ...float,
    ...behind.map((node) => ({ node: node.displayName, op: node.opName, reason: whyBehind(node, target) })),
  ];
}

/** Why integers end at a node. */
const whyBehind = (node: Node, target: IntegerTarget): string =>
  kernelFor(target, node)
    ? "integers would end behind it: no product on integers reads its result, or something it reads is float"
    : `integers end here: ${target.title} has no integer ${node.opName} of this form`;

const quantizedNodes = ({ graph }: Model): number =>
  [...nodesWithin(graph)].filter(({ opName }) => quantizedFormOf(opName) !== null).length;
