/**
 * One candidate per way of making the model smaller or faster that the graph, the data
 * and the mode admit, each with the error of its outputs measured on a few samples.
 */
import type { DatasetRef } from "../../dataset/index.js";
import { loadModel, type Model, type Node, nodesWithin, opsetOf } from "../../ir/index.js";
import type { RangeMethod } from "../../observe/index.js";
import { dynamicCandidates } from "../../quantization/dynamic.js";
import { isLookUp } from "../../quantization/embedding.js";
import { NIBBLES_OPSET, takesNibbles } from "../../quantization/nibble-table.js";
import { type Placement, planStatic } from "../../quantization/plan-static.js";
import {
  carefulWeights,
  formOf,
  LEAST_OPSET,
  type Recipe,
  type StaticChoice,
  staticRecipe,
  tunedRecipe,
  uniformRecipe,
  withForms,
} from "../../quantization/recipe.js";
import { tuneDynamic } from "../../quantization/tune-dynamic.js";
import { BLOCKS_OPSET, takesBlocks } from "../../quantization/weight-only.js";
import { widestPlacement } from "../calibrate/calibration.js";
import { observeChannels } from "../calibrate/channel-statistics.js";
import { unusableOf } from "../calibrate/unusable-statistics.js";
import { type Candidate, isInteger, type Variant } from "../candidates/candidate.js";
import type { Known, Workshop } from "../candidates/workshop.js";
import { isSearched, type OptimizeConfig } from "../config.js";
import type { CorrectionFacts } from "../correct/correction-facts.js";
import { float16Risks } from "../fp16/float16-risks.js";
import type { Placed } from "../place/place-statics.js";
import type { RunRecord } from "../run-record.js";
import { type ChosenMethods, chooseMethods } from "./choose-ranges.js";
import { areWorthATry, makeDynamic, makeRival, rivalAmong } from "./dynamic-rival.js";
import { mayBeWorthIt, worthItsTime } from "./worth-its-time.js";

/** What the model is converted to, as far as it can be: weights per block need more than others, and only matrices have them. */
export function leastOpset({ quantize }: OptimizeConfig, original: Model): number {
  const { mode, bits, goal } = quantize;
  const mayBeBlocks = mayStoreWeights({ quantize }) && (bits === 4 || goal === "speed");
  const nodes = [...nodesWithin(original.graph)];
  if (mayBeBlocks && nodes.some((node) => node.is("MatMul") || node.is("Gemm"))) return BLOCKS_OPSET;
  if (mayBeBlocks && bits === 4 && nodes.some(isLookUp)) return NIBBLES_OPSET;
  return mode === "weights" ? LEAST_OPSET.weights : LEAST_OPSET.static;
}

export interface CandidatesRequest {
  readonly config: OptimizeConfig;
  readonly workshop: Workshop;
  /** The prepared model. */
  readonly model: Model;
  /** Float candidates too, and not only integers. */
  readonly withFloat: boolean;
  /** Whether the float model is one of them: a file that is timed against itself is faster by chance alone. */
  readonly isFloatRaced: boolean;
  readonly isQuantized: boolean;
  /** Samples to choose range methods by; made-up where there are none. */
  readonly fit: DatasetRef;
  /** Those of them that are there for their answers' size. */
  readonly largest: readonly number[];
  /** Others to check with; null where those are too few. */
  readonly checks: DatasetRef | null;
  /** What the weights of static integers may be rounded in view of; null for nothing. */
  readonly inputs: StaticChoice["inputs"] | null;
  /** Told whether they are. */
  readonly onRounding: (facts: CorrectionFacts) => void;
  readonly record: RunRecord;
  /** Which nodes of the widest placement stay float, decided before, none where no integers pay; null where that is for races or the target to say. */
  readonly placed: readonly Placed[] | null;
  /** The static candidates, the widest first, with what can be corrected at no cost. */
  readonly correct?: (statics: readonly Candidate[]) => Promise<readonly Candidate[]>;
  /** The other candidates, with weights of 4 bits rounded with their inputs in view. */
  readonly round?: (others: readonly Candidate[]) => Promise<readonly Candidate[]>;
}

export async function makeCandidates(request: CandidatesRequest): Promise<Candidate[]> {
  const { config, workshop, model, withFloat, isQuantized, record, placed } = request;
  const { mode, goal } = config.quantize;
  const opset = opsetOf(model);
  const variants: Variant[] = [];
  if (withFloat) {
    if (request.isFloatRaced) variants.push({ kind: "fused" });
    if (config.runtime.provider !== "cpu" || goal === "size")
      variants.push({ kind: "fp16", tooWide: await findWide(request) });
  }
  const isStatic = !isQuantized && (mode === "auto" || mode === "static");
  const { target, excluded } = workshop.options;
  const isDynamic =
    !isQuantized && target.dynamic && (mode === "auto" || mode === "dynamic") && opset >= LEAST_OPSET.dynamic;
  const takes = ({ name }: Node): boolean => !excluded.has(name);
  const dynamics = isDynamic ? dynamicCandidates(model, target, takes).map(({ name }) => name) : [];
  const most = isStatic ? planStatic(model, target, { ...widestPlacement, keepFloat: excluded }).nodes.length : 0;
  const isWorthIt = mode === "dynamic" ? dynamics.length > 0 : areWorthATry(dynamics, most, request);
  const recipe = isWorthIt ? await dynamicRecipe(request) : null;
  const rival = recipe && most > 0 ? await makeRival(recipe, dynamics, request) : null;
  const statics = isStatic && !rival?.isAlone ? await makeStatic(request, config.quantize.method) : [];
  if (rival) statics.push(...(await rivalAmong(statics, rival, request)));
  let dynamic = rival?.candidate ?? (recipe && (await makeDynamic(recipe, request)));
  if (!isQuantized) {
    if (recipe && !rival) {
      const own = dynamic?.variant.kind === "integers" ? dynamic.variant.recipe : recipe;
      const isAlone = mode === "auto" && !withFloat && statics.length === 0;
      if (isAlone || !dynamic)
        variants.push({ kind: "integers", recipe: isAlone ? withRestStored(own, request) : own });
      if (isAlone && dynamic) {
        workshop.discard(dynamic);
        dynamic = null;
      }
    }
    if (opset >= LEAST_OPSET.weights) {
      // What is widened in every run or when it is loaded is no faster where integers themselves are not.
      const isLast = mode === "auto" && !withFloat && statics.length === 0 && !recipe && placed?.length !== 0;
      const recipes = mayStoreWeights(config) || isLast ? weightRecipes(request) : [];
      variants.push(...recipes.map((recipe) => ({ kind: "integers", recipe }) as const));
    }
  }
  const plain = [...(dynamic ? [dynamic] : []), ...(await makeAll(variants, request))];
  const others = (await request.round?.(plain)) ?? plain;

  const useful = [...others, ...statics].filter((candidate) => {
    const isRefused = candidate.sqnrDb === Number.NEGATIVE_INFINITY && candidate.note !== "";
    if (isRefused) record.warn(`${candidate.name} was left out: ${candidate.note}`);
    if (isUseful(candidate) && !isRefused) return true;
    workshop.discard(candidate);
    return false;
  });
  // Where nothing was made it is the reason why, and told as that.
  const unusable = useful.length > 0 ? unusableOf(workshop.options.taps, config) : null;
  if (unusable !== null) record.warn(unusable);
  return useful;
}

/** As `fp16` does: what goes beyond the range of half precision becomes infinity. */
function findWide({ workshop, config, record }: CandidatesRequest): Promise<ReadonlyMap<string, string>> {
  const { fused, prepared, trial } = workshop.options;
  const look = () => float16Risks(loadModel(fused ?? prepared), [trial], config.runtime, record);
  return record.stage("calibrate", look, "ranges of values");
}

/** Tuned to what activations are like, where there are samples to see it on. */
async function dynamicRecipe({ workshop, model, record }: CandidatesRequest): Promise<Recipe> {
  const { trial: data, prepared, target, excluded, runtime } = workshop.options;
  if (data.random) return uniformRecipe("dynamic");
  const takes = (node: Node): boolean => !excluded.has(node.name);
  const statistics = await record.stage(
    "calibrate",
    () => observeChannels({ prepared, model, data, runtime, takes }, workshop.context),
    "channels of activations",
  );
  return tunedRecipe(await tuneDynamic(model, statistics, target, takes));
}

/** Where static integers are out of the question, what dynamic ones leave is smaller at least, at no cost in time. */
function withRestStored(recipe: Recipe, { model, workshop }: CandidatesRequest): Recipe {
  const own = new Set(dynamicCandidates(model, workshop.options.target).map(({ name }) => name));
  return withForms(recipe, new Map([...carefulWeights(model, 8).forms].filter(([name]) => !own.has(name))));
}

/** As few bits as were asked for; and more where nobody asked, and no limit says how much error is too much. */
function weightRecipes({ config: { quantize, limits }, model }: CandidatesRequest): Recipe[] {
  const { mode, goal } = quantize;
  const nodes = [...nodesWithin(model.graph)];
  const opset = opsetOf(model);
  const hasBlocks = opset >= BLOCKS_OPSET && nodes.some(takesBlocks);
  const tables = nodes.filter((node) => isLookUp(node) && takesNibbles(node, opset)).map(({ name }) => name);
  // Where no kernel reads 4 bits they are 8, and called so.
  const bits = hasBlocks || tables.length > 0 ? quantize.bits : 8;
  // Tables take next to no time: 4 bits make them smaller, and less accurate.
  const wide = new Map(tables.map((name) => [name, "weights8"] as const));
  const hasSmaller = bits === 4 && goal === "size" && wide.size > 0;
  const tabled = (recipe: Recipe): Recipe[] => {
    const careful = wide.size > 0 ? withForms(recipe, wide) : recipe;
    if (!hasSmaller) return [careful];
    return limits.maxDrop === "none" ? [recipe] : [recipe, careful];
  };
  const [asked, careful] = [uniformRecipe(`weights${bits}`), carefulWeights(model, bits)];
  const blocks = bits === 8 && goal === "speed" && hasBlocks ? [uniformRecipe("blocks8")] : [];
  if (mode === "weights") return [...tabled(asked), ...blocks];
  if (careful.forms.size === 0) return tabled(asked);
  return [careful, ...(limits.maxDrop === "none" ? [] : [asked])].flatMap(tabled);
}

/** Whether weights alone may become integers: when asked for, and where size is what counts. */
const mayStoreWeights = ({ quantize: { mode, goal } }: Pick<OptimizeConfig, "quantize">): boolean =>
  mode === "weights" || (mode === "auto" && goal === "size");

const isUseful = (candidate: Candidate): boolean => candidate.built.forms.size > 0 || !isInteger(candidate);

/** The method where ranges came from a file and there are no samples to measure errors on. */
const UNMEASURED: RangeMethod = "percentile";

/** Placements worth comparing, all with the ranges that keep the outputs of the widest closest to the float model's. */
async function makeStatic(request: CandidatesRequest, method: RangeMethod | null): Promise<Candidate[]> {
  const { model, workshop } = request;
  const { taps, target, excluded } = workshop.options;
  if (!taps) return [];
  // What made-up inputs say of errors is nothing to choose by.
  const fixed = method ?? (request.fit.random ? UNMEASURED : null);
  if (request.placed) return makePlaced(request, request.placed, fixed);
  const count = (placement: Placement): number =>
    planStatic(model, target, { ...placement, keepFloat: excluded }).nodes.length;
  const widest = count(widestPlacement);
  if (widest === 0) return [];
  // What to leave float is for measurements to say: on cpu the profile of the widest placement tells it, elsewhere races.
  const isProfiled = request.config.runtime.provider === "cpu";
  const placements = [
    { neighbours: false, depthwise: true },
    { neighbours: true, depthwise: false },
  ];
  const narrower = (target.isMeasurable && !isProfiled ? placements : []).filter((placement) => {
    const nodes = count(placement);
    return nodes > 0 && nodes < widest;
  });

  const { choice, made: widestMade } = await choose(request, fixed);
  const variants = [widestPlacement, ...narrower].map(
    (placement): Variant => ({ kind: "integers", recipe: staticRecipe({ placement, ...choice }) }),
  );
  const made = await makeAll(variants, request, widestMade);
  const statics = [...((await request.correct?.(made)) ?? made)];
  const [first] = statics;
  if (!first || request.config.quantize.goal !== "size" || !target.isMeasurable) return statics;
  const rest = restStored(first, model);
  if (!rest) return statics;
  const smaller = workshop.make(rest);
  if (first.sqnrDb !== null) await workshop.measureError([smaller]);
  return [...statics, smaller];
}

/** Where size counts: what static integers leave float, stored as integers at least. Null where nothing is left. */
function restStored({ variant, built }: Candidate, model: Model): Variant | null {
  if (variant.kind !== "integers") return null;
  const careful = carefulWeights(model, 8);
  const left = new Map([...nodesWithin(model.graph)].map((node) => [node.name, formOf(careful, node)]));
  const forms = built.float.flatMap(({ node }) => {
    const form = left.get(node);
    return form === undefined || form === "static" ? [] : [[node, form] as const];
  });
  return forms.length === 0 ? null : { kind: "integers", recipe: withForms(variant.recipe, new Map(forms)) };
}

/** Ranges for the first, which the second of nearly the same speed shares; the more accurate is kept. */
async function makePlaced(
  request: CandidatesRequest,
  placed: readonly Placed[],
  method: RangeMethod | null,
): Promise<Candidate[]> {
  const { workshop, record } = request;
  const { choice, made: first } = await choose(request, method, placed[0]!.keptFloat);
  const variant: Variant = { kind: "integers", recipe: staticRecipe({ placement: widestPlacement, ...choice }) };
  // One that has nothing to be compared with is measured in the end.
  const isAlone = placed.length === 1 && !isSearched(request.config);
  const wanted = placed.map(({ keptFloat, speedup, times, note }, i) => {
    const own = i === 0 && first ? { ...knownOf(first), note: first.note || note } : { note };
    return { variant, keptFloat, known: { speedup, ...(times && { times }), ...own } };
  });
  const make = async (): Promise<Candidate[]> => {
    if (isAlone) return wanted.map(({ keptFloat, known }) => workshop.make(variant, keptFloat, known));
    // Each has more in float than the one before: what the last does not gain, those between do not gain either.
    const [widest, ...others] = wanted;
    const made = await workshop.makeMeasured(
      [widest!, ...others.slice(-1), ...others.slice(0, -1)],
      (each, [fast, careful]) => (careful ? mayBeWorthIt(each, fast!, careful) : true),
    );
    return [made[0]!, ...made.slice(2), ...made.slice(1, 2)];
  };
  const made = await record.stage("quantize", make, "placements");
  const best = worthItsTime(made);
  const wider = placed[made.indexOf(best)]?.wider;
  for (const each of made) if (each !== best) workshop.discard(each);
  const [corrected = best] = (await request.correct?.([best])) ?? [];
  if (corrected !== best) {
    const { speedup, note, times } = best;
    Object.assign(corrected, { speedup, note, ...(times && { times }) });
  }
  const [fastest] = made;
  if (best !== fastest) {
    corrected.faster = { keptFloat: fastest!.keptFloat, gain: fastest!.speedup! / best.speedup! };
  }
  if (wider) corrected.wider = wider;
  return [corrected];
}

/** @param method the only one, where that is settled */
async function choose(
  request: CandidatesRequest,
  method: RangeMethod | null,
  keptFloat?: ReadonlyMap<string, string>,
): Promise<ChosenMethods> {
  const { workshop, record, config } = request;
  const data = { ...request, method };
  const work = () => chooseMethods(workshop, widestPlacement, data, keptFloat, isSearched(config));
  // Nothing to choose among takes no time.
  const isSettled = method !== null && request.inputs === null;
  const chosen = await (isSettled ? work() : record.stage("quantize", work, "ranges"));
  if (chosen.means) request.onRounding(chosen.means);
  return chosen;
}

/** Of a candidate that was made to be measured, and need not be made again. */
const knownOf = ({ built, sqnrDb, pooledDb, inner, note }: Candidate): Known => ({
  ...{ built, sqnrDb, note },
  ...(inner && { inner }),
  ...(pooledDb !== undefined && { pooledDb }),
});

/**
 * Candidates with their errors measured, those that turned out to be of no use excepted.
 * @param first of them, where it is made already
 */
async function makeAll(
  variants: readonly Variant[],
  { workshop, record, config }: CandidatesRequest,
  first: Candidate | null = null,
): Promise<Candidate[]> {
  if (variants.length === 0) return [];
  const made = await record.stage("quantize", () =>
    variants.map((variant, i) => workshop.make(variant, undefined, i === 0 && first ? knownOf(first) : {})),
  );
  // One that has nothing to be compared with is measured in the end.
  if (variants.length === 1 && !isSearched(config)) return made;
  await record.stage(
    "verify",
    () => workshop.measureError(made.filter((each) => isUseful(each) && each.sqnrDb === null)),
    "errors on a few samples",
  );
  return made;
}
