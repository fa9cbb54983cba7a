/**
 * What a recipe makes of one small model, held against the original: the same ports, the same results at several
 * shapes, a file that loads, the same bytes a second time, and nothing left to do. Passes run without the pipeline's
 * own check, so a wrong rewrite shows here although users would never get it.
 */
import { f32ToF16Bits } from "../../src/base/f16.js";
import { seededRandom } from "../../src/base/random.js";
import { countNodes, isFloat, type Model, Tensor } from "../../src/ir/index.js";
import { movesLastBits } from "../../src/pipeline/prepare/exactness.js";
import { annotateTypes, PassFailure } from "../../src/rewrite/index.js";
import { leavesUnwritten, reducesNothing, refusesPart, refusesSizes, withHalfNoise } from "./excuses.js";
import { type FuzzCase, modelOf } from "./fuzz-case.js";
import { leftToDo, type Made, passNames, type Recipe, rewritten, settleSizes } from "./rewritten.js";
import { bytesOf, describeModel, type Feeds, feedsFor, type Outputs, Refusal, runEach } from "./session.js";

export type FaultKind = "wrong" | "refused" | "crashed" | "ports" | "unsteady" | "unfinished";

export interface Fault {
  readonly kind: FaultKind;
  readonly recipe: Recipe;
  readonly detail: string;
}

export type Verdict =
  /** The original does not load or run. */
  | { readonly kind: "invalid"; readonly reason: string }
  | { readonly kind: "fault"; readonly fault: Fault }
  /** Rounding alone moves the original's results: nothing can be said. */
  | { readonly kind: "unstable" }
  | { readonly kind: "sound"; readonly applied: ReadonlyMap<string, number>; readonly before: number; after: number };

/** rtol of the comparison after rewrites that round, of the largest magnitude of an output. */
const TOLERANCE = { f32: 1e-3, f64: 1e-3, f16: 1e-2, bf16: 1e-1 } as Readonly<Record<string, number>>;
const ABSOLUTE = 1e-5;

/** Sizes of symbols: all alike, all different, and a mixture that has ones. */
function feedSets(model: Model, seed: number): Feeds[] {
  const distinct = new Map<string, number>();
  const mixed = new Map<string, number>();
  const random = seededRandom(seed);
  const sizes = [
    () => 2,
    (symbol: string) => at(distinct, symbol, () => 3 + distinct.size),
    (symbol: string) => at(mixed, symbol, () => [1, 1, 2, 3, 4][random.below(5)]!),
  ];
  const isFixed = model.graph.inputs.every((input) => input.shape?.every((dim) => typeof dim === "number") ?? true);
  return (isFixed ? sizes.slice(0, 2) : sizes).map((sizeOf, i) => feedsFor(model, sizeOf, seed + i));
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  if (!map.has(key)) map.set(key, make());
  return map.get(key)!;
}

export interface JudgeOptions {
  readonly recipes: readonly Recipe[];
  readonly seed: number;
  /** Passes to leave out. */
  readonly skip?: readonly string[];
  /** Called when the original is known to run. */
  readonly onRewritten?: () => void;
}

export async function judge(given: FuzzCase, options: JudgeOptions): Promise<Verdict> {
  let original: Model;
  let feeds: Feeds[];
  let wanted: Outputs[];
  try {
    original = modelOf(given);
    if (leavesUnwritten(original))
      return { kind: "invalid", reason: "the runtime leaves an output of a Scan unwritten" };
    feeds = feedSets(original, options.seed);
    let results = await runEach(bytesOf(original), feeds);
    if (results.every((result) => result instanceof Refusal)) {
      feeds = [feedsFor(original, () => 1, options.seed)];
      results = await runEach(bytesOf(original), feeds);
    }
    feeds = feeds.filter((_, i) => !(results[i] instanceof Refusal));
    wanted = results.filter((result): result is Outputs => !(result instanceof Refusal));
    if (wanted.length === 0) return { kind: "invalid", reason: (results[0] as Refusal).message };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return { kind: "invalid", reason: thrown.message };
  }
  options.onRewritten?.();
  const { skip = [] } = options;
  const applied = new Map<string, number>();
  let after = 0;
  const isShaky = await movesBits(original);
  // Numbers that are random depend on how many runs there were before.
  const isRandom = /\b(Random|Bernoulli|Multinomial|Dropout)/.test(given.text);
  // How many values are alike or nothing is another matter in half precision.
  const countsValues = /= (Unique|NonZero|Compress|NonMaxSuppression)\b/.test(given.text);
  for (const recipe of options.recipes) {
    if (recipe === "shape" && isRandom) continue;
    // Sizes that are settled are those of one run.
    const runs = recipe === "shape" ? [options.seed % feeds.length] : [...feeds.keys()];
    const how = { recipe, seed: options.seed, skip, feeds: feeds[runs[0]!]! };
    const fault = async (kind: FaultKind, detail: string): Promise<Verdict> => {
      if (kind === "wrong" && (await isUnstable(original, feeds, wanted))) return { kind: "unstable" };
      if ((kind === "wrong" || kind === "refused") && (await reducesNothing(original, feeds)))
        return { kind: "invalid", reason: "the runtime gives a reduction of no elements another shape than it infers" };
      const settle = (model: Model): void => settleSizes(model, how.feeds);
      if (kind === "refused" && recipe === "shape" && (await refusesSizes(modelOf(given), settle, how.feeds)))
        return { kind: "invalid", reason: "the runtime refuses the sizes that are settled, before any rewrite" };
      if (kind === "refused" && (await refusesPart(given, feeds)))
        return { kind: "invalid", reason: "the runtime refuses a part of the original" };
      return { kind: "fault", fault: { kind, recipe, detail } };
    };
    let made: Made;
    try {
      made = await rewritten(given, how);
    } catch (thrown) {
      if (thrown instanceof PassFailure) return fault("crashed", thrown.message);
      return fault("crashed", thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
    }
    const ports = portFault(modelOf(given), made.model, recipe !== "shape");
    if (ports) return fault("ports", ports);
    let got: (Outputs | Refusal)[];
    try {
      const chosen = runs.map((run) => feeds[run]!);
      got = await runEach(made.bytes, chosen);
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      return fault("refused", thrown.message);
    }
    for (const [i, outputs] of got.entries()) {
      if (outputs instanceof Refusal) return fault("refused", outputs.message);
      const difference =
        recipe === "half"
          ? portDifference(wanted[runs[i]!]!, outputs, !countsValues)
          : differenceOf(wanted[runs[i]!]!, outputs, recipe === "fold" && !isShaky);
      if (difference) return fault("wrong", difference);
    }
    const again = await rewritten(given, how);
    if (Buffer.compare(made.bytes, again.bytes) !== 0) return fault("unsteady", "a second run gives other bytes");
    const left = await leftToDo(made, given, recipe, skip);
    if (left.length > 0) return fault("unfinished", `more to do after the last round: ${left.join(", ")}`);
    for (const report of made.reports) {
      if (report.applied > 0) applied.set(report.name, (applied.get(report.name) ?? 0) + report.applied);
    }
    after = countNodes(made.model.graph);
  }
  return { kind: "sound", applied, before: countNodes(original.graph), after };
}

async function movesBits(original: Model): Promise<boolean> {
  await annotateTypes(original, describeModel);
  return movesLastBits(original);
}

function portFault(original: Model, made: Model, withSizes: boolean): string | null {
  const ports = ({ graph }: Model): string =>
    JSON.stringify({
      inputs: graph.inputs.map(({ label, type, origin }) => [
        label,
        withSizes ? type : type?.dtype,
        origin.defaultTensor !== undefined,
      ]),
      outputs: graph.outputs.map(({ name }) => name),
    });
  return ports(original) === ports(made) ? null : `ports were ${ports(original)}, are ${ports(made)}`;
}

/** How outputs of two runs differ in type and shape; half precision promises no more that could be held against it. */
function portDifference(wanted: Outputs, got: Outputs, withSizes = true): string | null {
  for (const [name, a] of Object.entries(wanted)) {
    const b = got[name];
    if (!b) return `${name} is missing`;
    if (a.dtype !== b.dtype) return `${name} was ${a.dtype}, is ${b.dtype}`;
    const differ = withSizes ? String(a.dims) !== String(b.dims) : a.dims.length !== b.dims.length;
    // Of a Loop without an iteration the runtime makes one axis of no elements where it knows no rank; what was inferred may say more axes behind it.
    const isMadeUp = String(a.dims) === "0" && b.dims[0] === 0;
    if (differ && !isMadeUp) return `${name} was [${a.dims}], is [${b.dims}]`;
  }
  return null;
}

/** How two runs differ, or null. What is not finite in the original is not compared unless all bits must agree. */
export function differenceOf(wanted: Outputs, got: Outputs, exact: boolean): string | null {
  for (const [name, a] of Object.entries(wanted)) {
    const ports = portDifference({ [name]: a }, got);
    if (ports) return ports;
    const b = got[name]!;
    const [x, y] = [numbersOf(a), numbersOf(b)];
    let largest = 0;
    for (const value of x) if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
    const allowed = exact || !isFloat(a.dtype) ? 0 : largest * (TOLERANCE[a.dtype] ?? 0) + ABSOLUTE;
    for (const [i, value] of x.entries()) {
      if (Object.is(value, y[i])) continue;
      if (Math.abs(value - y[i]!) <= allowed && !(exact && value === 0)) continue;
      return `${name}[${i}] was ${value}, is ${y[i]}, of ${largest}`;
    }
  }
  return null;
}

const numbersOf = (tensor: Tensor): number[] => {
  if (tensor.dtype === "f64") return [...new Float64Array(Uint8Array.from(tensor.bytes()).buffer)];
  return Array.from(tensor.toF32() ?? tensor.bigints() ?? [], Number);
};

/** Whether noise of a few roundings in feeds and constants moves results as far as a fault would. */
async function isUnstable(original: Model, feeds: readonly Feeds[], wanted: readonly Outputs[]): Promise<boolean> {
  for (let trial = 0; trial < 6; trial++) {
    const random = seededRandom(trial + 1);
    const noisy = (tensor: Tensor): Tensor => withNoise(tensor, () => random.normal());
    const moved = feeds.map((each) => Object.fromEntries(Object.entries(each).map(([k, v]) => [k, noisy(v)])));
    const results = await runEach(await withHalfNoise(original, trial), moved);
    for (const [i, result] of results.entries()) {
      if (result instanceof Refusal || differenceOf(wanted[i]!, result, false)) return true;
    }
  }
  return false;
}

function withNoise(tensor: Tensor, noise: () => number): Tensor {
  if (!isFloat(tensor.dtype)) return tensor;
  const size = tensor.dtype === "f16" ? 1e-3 : 1e-6;
  const values = numbersOf(tensor).map((value) => value * (1 + size * noise()));
  if (tensor.dtype === "f16")
    return Tensor.ofArray(
      "f16",
      tensor.dims,
      Uint16Array.from(values, (value) => f32ToF16Bits(value)),
    );
  const array = tensor.dtype === "f64" ? Float64Array.from(values) : Float32Array.from(values);
  return Tensor.ofArray(tensor.dtype, tensor.dims, array);
}

/** Passes without which the fault does not show. */
export async function culprits(given: FuzzCase, fault: Fault, seed: number): Promise<string[]> {
  const found: string[] = [];
  for (const name of passNames(fault.recipe)) {
    const verdict = await judge(given, { recipes: [fault.recipe], seed, skip: [name] });
    if (verdict.kind !== "fault" || verdict.fault.kind !== fault.kind) found.push(name);
  }
  return found;
}
