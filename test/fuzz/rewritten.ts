/**
 * What is made of a model in one of the ways that users have: the passes of a recipe, another opset, sizes that are
 * settled, half precision.
 */
import { type Model, nodesWithin, opsetOf } from "../../src/ir/index.js";
import { textOf } from "../../src/ops/attribute-text.js";
import { finishing, recipes } from "../../src/passes/catalog.js";
import { toFloat16 } from "../../src/passes/precision/to-float16.js";
import { fixShapes } from "../../src/pipeline/fix-shapes.js";
import { opsetRaiser, raiseOpset } from "../../src/pipeline/prepare/raise-opset.js";
import { makeNamesUnique } from "../../src/quantization/names.js";
import { type AnyPass, annotateTypes, isForOtherTargets, type PassReport, runPasses } from "../../src/rewrite/index.js";
import { requireTarget } from "../../src/target/find-target.js";
import { type FuzzCase, modelOf } from "./fuzz-case.js";
import { bytesOf, describeModel, evaluate, type Feeds } from "./session.js";

/**
 * The recipes of the catalog but for `lossy`, which changes results on purpose, and those that are in others; `opset`, `shape` and `half`: what --opset,
 * --shape and fp16 do; and `elsewhere`: what `fuse` does for a target that has more kernels than the runtime here.
 */
export type Recipe =
  | Exclude<keyof typeof recipes, "lossy" | "prepare" | "runtimePrepare" | "small" | "compact">
  | "opset"
  | "shape"
  | "half"
  | "elsewhere";

export interface Made {
  readonly model: Model;
  readonly bytes: Uint8Array;
  readonly reports: readonly PassReport[];
}

/** Lists of passes that run one after the other, as the pipeline runs them. */
const stages: Readonly<Record<Recipe, readonly (readonly AnyPass[])[]>> = {
  fold: [recipes.fold],
  fuse: [recipes.fuse],
  runtime: [recipes.fuse, recipes.runtime],
  integers: [recipes.prepare, recipes.integers, finishing],
  shape: [recipes.fuse],
  opset: [],
  half: [],
  elsewhere: [recipes.fuse],
};

/** Those that have something to do in a recipe. */
export const passNames = (recipe: Recipe): string[] => {
  const passes = stages[recipe].flat().filter((pass) => recipe === "elsewhere" || !isForOtherTargets(pass));
  return [...new Set(passes.map(({ name }) => name))];
};

export interface How {
  readonly recipe: Recipe;
  readonly seed: number;
  readonly skip: readonly string[];
  /** What `shape` settles sizes by. */
  readonly feeds: Feeds;
}

export async function rewritten(given: FuzzCase, { recipe, seed, skip, feeds }: How): Promise<Made> {
  const model = modelOf(given);
  if (recipe === "opset") {
    const from = opsetOf(model);
    if (from < NEWEST) raiseOpset(model, from + 1 + (seed % (NEWEST - from)));
  }
  if (recipe === "shape") settleSizes(model, feeds);
  // Folding promises the same opset.
  if (recipe !== "fold" && recipe !== "half" && opsetOf(model) < 17) raiseOpset(model, 17);
  if (recipe === "half") {
    makeNamesUnique(model);
    await annotateTypes(model, describeModel);
    toFloat16(model, { target: "f16", keepIo: true });
  }
  const reports: PassReport[] = [];
  for (const passes of stages[recipe]) {
    if (given.typed) await annotateTypes(model, describeModel, { isSized: recipe === "shape" });
    reports.push(...(await runStage(model, passes, given, recipe, skip)));
  }
  makeNamesUnique(model);
  return { model, bytes: bytesOf(model), reports };
}

/** The newest opset that the runtime takes. */
const NEWEST = 24;

/** Gives inputs the sizes that they have in a run. */
export const settleSizes = (model: Model, feeds: Feeds): void => fixShapes(model, sizesOf(model, feeds));

const sizesOf = ({ graph }: Model, feeds: Feeds): Map<string, readonly number[]> =>
  new Map(graph.inputs.flatMap(({ label }) => (feeds[label] ? [[label, feeds[label].dims] as const] : [])));

/**
 * Passes of the last stage once more, on what they have made: they must find nothing; or, where one that runs last is among
 * them, come to rest.
 */
export async function leftToDo(
  made: Made,
  given: FuzzCase,
  recipe: Recipe,
  skip: readonly string[],
): Promise<string[]> {
  const stage = stages[recipe].at(-1);
  if (!stage) return [];
  const applied = async (): Promise<string[]> =>
    (await runStage(made.model, stage, given, recipe, skip))
      .filter((report) => report.applied > 0)
      .map(({ name }) => name);
  const first = nodesOf(made.model);
  const names = await applied();
  const ran = new Set([...names, ...made.reports.filter((report) => report.applied > 0).map(({ name }) => name)]);
  if (!stage.some((pass) => pass.kind === "rewrite" && pass.runsLast && ran.has(pass.name))) return names;
  const second = nodesOf(made.model);
  if (second === first) return [];
  await applied();
  return nodesOf(made.model) === second ? [] : names;
}

/** What a graph computes, but for names. */
const nodesOf = ({ graph }: Model): string =>
  [...nodesWithin(graph)]
    .map(
      ({ opName, attributes, outputs }) =>
        `${opName} ${[...attributes].map(([name, each]) => `${name}=${textOf(each)}`)} ${outputs.map((value) => value?.shape?.join())}`,
    )
    .sort()
    .join("\n");

const runStage = (
  model: Model,
  passes: readonly AnyPass[],
  { typed }: FuzzCase,
  recipe: Recipe,
  skip: readonly string[],
): Promise<PassReport[]> =>
  runPasses(model, passes, {
    ...{ evaluate, check: true, foldGrowthBytes: 1 << 16 },
    ...(recipe !== "fold" && { raiseOpset: opsetRaiser() }),
    ...(recipe === "elsewhere" && { target: requireTarget("openvino") }),
    ...(typed && {
      annotate: (each: Model) => annotateTypes(each, describeModel, { isRepeated: true, isSized: recipe === "shape" }),
    }),
    skip: skip.filter((name) => passes.some((pass) => pass.name === name)),
  });
