/**
 * Makes candidates and measures them cheaply: the error of their outputs on a few
 * samples, and a short race against the model as it came. Decisions are made elsewhere.
 */
import { existsSync, rmSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { collectPiledUp } from "../../base/collect-garbage.js";
import { InferOptError } from "../../base/errors.js";
import { compareLatency } from "../../bench/index.js";
import type { DatasetRef } from "../../dataset/index.js";
import { loadModel, type Model, nodesWithin, type SavedModel, saveModel } from "../../ir/index.js";
import type { TapStatistics } from "../../observe/index.js";
import { type HalfWeights, storeAsHalf, weightsToStore } from "../../passes/precision/store-half.js";
import { toFloat16 } from "../../passes/precision/to-float16.js";
import { applyRecipe } from "../../quantization/apply-recipe.js";
import { toIntegerOperators } from "../../quantization/integer-operators.js";
import type { KeptIntegers } from "../../quantization/kept-integers.js";
import { nameAdded } from "../../quantization/names.js";
import { planStatic } from "../../quantization/plan-static.js";
import { type Rewrite, runRewrites } from "../../rewrite/index.js";
import type { IntegerTarget } from "../../target/integer-kernel.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import type { Measured } from "../journal.js";
import { asDelivered, scratchFile } from "../model-runs.js";
import type { BuiltModel } from "./built-model.js";
import {
  type Candidate,
  isInteger,
  isStatic,
  type MeasuredError,
  type Plan,
  type Variant,
  variantName,
} from "./candidate.js";
import { type Estimate, estimateTimes } from "./estimated-times.js";
import type { InnerValues } from "./inner-values.js";
import { loadedTogether } from "./loaded-together.js";
import { measureErrors } from "./measure-errors.js";
import { type Region, type RegionTime, regionsOf, regionTimes, totalMs } from "./regions.js";
import { worthOfWeights } from "./weights-worth.js";

export interface WorkshopOptions {
  /** The model as it came: what speed and accuracy are measured against. */
  readonly original: string;
  readonly prepared: string;
  /** What float candidates are made of, where `prepared` was changed for integers. */
  readonly fused?: string;
  /** The same with channels scaled for static integers; absent where that was of no use. */
  readonly equalized?: string;
  readonly target: IntegerTarget;
  /** Statistics for static candidates; null when there is no calibration data. */
  readonly taps: ReadonlyMap<string, TapStatistics> | null;
  /** A few samples for errors and races. */
  readonly trial: DatasetRef;
  /** Where answers of the float model to samples of the trial's data are kept; absent where none are. */
  readonly answers?: string;
  /** What static candidates are judged by where answers are few numbers; absent elsewhere. */
  readonly inner?: InnerValues;
  /** Nodes the user asked to leave float, with the reason to give. */
  readonly excluded: ReadonlyMap<string, string>;
  /** Of activations, by label: elements of one sample; absent where all that matter are among `taps`. */
  readonly sizes?: ReadonlyMap<string, number>;
  /** What is rewritten once integers are placed; nothing when absent. */
  readonly finishing?: readonly Rewrite[];
  /** Then, and only where there are any. */
  readonly approximating?: readonly Rewrite[];
  /** Of a model that came in half precision: what is left in float is stored so again. */
  readonly halfWeights?: HalfWeights | null;
  /** What all candidates of a run have in common; absent: each makes its own. */
  readonly kept?: KeptIntegers;
  /** For the process that measures, as long as the first of several candidates is made; what it does, it does once. */
  readonly meanwhile?: () => Promise<unknown>;
  /** Statistics that a placement with no more than this in float needs; absent where `taps` has all of them. */
  readonly observe?: (keptFloat: Candidate["keptFloat"]) => Promise<ReadonlyMap<string, TapStatistics> | null>;
  /** Q/DQ pairs when absent. */
  readonly format?: "qdq" | "qoperator";
  /** What a candidate would take as the output of the run; absent: what it takes on disk. */
  readonly bytesOf?: (saved: SavedModel) => number;
  readonly runtime: RuntimeConfig;
}

/** Weights that were read are collected once so much has piled up: to look for them takes longer than to make a small candidate. */
const PILED_UP_BYTES = 8 << 20;
/** Candidates in one race, each in a process of its own beside the original's. */
const IN_ONE_RACE = 2;

/** Of a candidate, before it is made; or with its file, where that is there. */
export type Known = Partial<MeasuredError & SpeedEntry & Pick<Candidate, "built">>;

export interface Wanted extends Pick<Candidate, "variant" | "keptFloat"> {
  readonly known?: Known;
}

type SpeedEntry = Pick<Candidate, "speedup" | "times">;

export class Workshop {
  #model: Model | null = null;
  /** How much faster than the original the float model is that integers are made of; null until both were profiled. */
  #fusedGain: number | null = null;
  #isRaced = false;
  #taps: WorkshopOptions["taps"];

  constructor(
    readonly options: WorkshopOptions,
    readonly context: RunContext,
    /** What was measured before, and what is now; null where nothing is to be kept. */
    readonly journal: Measured | null = null,
  ) {
    this.#taps = options.taps;
  }

  /** Of all that was observed by now. */
  get taps(): WorkshopOptions["taps"] {
    return this.#taps;
  }

  /** Has the ranges ready for placements with no more than this in float. */
  async observeFor(keptFloat: ReadonlyMap<string, string>): Promise<void> {
    const more = await this.options.observe?.(keptFloat);
    if (more) this.#taps = new Map([...more, ...(this.#taps ?? [])]);
  }

  make(variant: Variant, keptFloat: ReadonlyMap<string, string> = new Map(), known: Known = {}): Candidate {
    const built = known.built ?? this.#build(variant, keptFloat, scratchFile(this.context, "candidate"));
    return {
      variant,
      name: variantName(variant) + without(keptFloat.size),
      built,
      keptFloat,
      sqnrDb: null,
      speedup: null,
      accuracy: null,
      note: "",
      ...known,
    };
  }

  /**
   * Makes them in order; each is measured in its own process while the next two are made here, where its error is not known
   * and `isWanted`, which is told those before it, measured.
   */
  async makeMeasured(
    wanted: readonly Wanted[],
    isWanted: (candidate: Candidate, before: readonly Candidate[]) => boolean = () => true,
  ): Promise<Candidate[]> {
    const made: Candidate[] = [];
    let earlier: Promise<unknown> = Promise.resolve();
    let last = this.options.meanwhile?.() ?? Promise.resolve();
    last.catch(() => undefined);
    await setImmediate();
    try {
      for (const { variant, keptFloat, known } of wanted) {
        const candidate = this.make(variant, keptFloat, known);
        const before = [...made];
        made.push(candidate);
        if (known?.sqnrDb === undefined) {
          const turn = last.then(() => isWanted(candidate, before));
          const own = this.measureError([candidate], turn);
          // What goes wrong meanwhile is told when it is waited for.
          for (const each of [turn, own]) each.catch(() => undefined);
          const due = earlier;
          [earlier, last] = [last, own];
          await due;
        }
        await setImmediate();
      }
      await last;
      return made;
    } catch (thrown) {
      await Promise.allSettled([last]);
      for (const candidate of made) this.discard(candidate);
      throw thrown;
    }
  }

  /** Frees a candidate's room on disk; its facts stay, and `restore` brings the file back. */
  discard(candidate: Candidate): void {
    if (candidate.built.path !== this.options.prepared) rmSync(candidate.built.path, { force: true });
  }

  /** Makes a discarded candidate's file again, the same bytes. */
  restore({ variant, keptFloat, built }: Candidate): void {
    if (!existsSync(built.path)) this.#build(variant, keptFloat, built.path);
  }

  /** See measure-errors.ts. */
  async measureError(candidates: readonly Candidate[], turn?: Promise<boolean>): Promise<void> {
    await measureErrors(candidates, this.options, this.context, this.journal, turn);
  }

  /**
   * Fills `speedup` of each. On cpu from the runtime's profile, which holds for every node what it took
   * when nothing disturbed it; the same comes out within a few percent however busy the machine is.
   * Elsewhere, and where there is no profile, by races that share the budget.
   */
  async measureSpeed(candidates: readonly Candidate[], budgetMs: number): Promise<void> {
    if (this.options.runtime.provider !== "cpu") return this.#raceAll(candidates, budgetMs);
    try {
      const { journal } = this;
      // What fusing gains is known from the float ones on: integers of other batches are told with it too.
      const inOrder = [...candidates.filter((each) => !isInteger(each)), ...candidates.filter(isInteger)];
      for (const batch of loadedTogether(inOrder)) {
        const known = batch.map((candidate) => journal?.recall<SpeedEntry>(candidate, "speed"));
        // Times hold beside those that were measured with them: all of a batch, or none.
        if (known.every((entry) => entry !== undefined)) {
          for (const [i, candidate] of batch.entries()) this.#learnGain(Object.assign(candidate, known[i]));
        } else await this.#profile(batch);
      }
    } catch (thrown) {
      if (!(thrown instanceof InferOptError) || thrown.code !== "PROFILE_EMPTY") throw thrown;
      await this.#raceAll(candidates, budgetMs);
    }
  }

  /** For what was profiled before beside the prepared model alone, in another workshop or before a float candidate was; once. */
  reckonBesideOriginal(candidates: readonly Candidate[]): void {
    for (const candidate of candidates) {
      if (!candidate.times || candidate.times.original) continue;
      // What was timed was so beside the original.
      if (candidate.estimate != null) candidate.estimate *= this.#gain;
      else if (candidate.estimate === undefined && candidate.speedup !== null) candidate.speedup *= this.#gain;
    }
  }

  /** What speeds are beside as long as nothing was timed: unless float candidates were profiled too, the model that integers are made of. */
  get estimatesBeside(): "original" | "rewritten" {
    return this.#isRaced || this.#fusedGain !== null ? "original" : "rewritten";
  }

  get #gain(): number {
    return this.#fusedGain ?? 1;
  }

  /** As many times as fast as their profile told; a run that goes on from the journal finds the same. */
  correctSpeed(candidates: readonly Candidate[], factor: number): void {
    for (const candidate of candidates) {
      if (candidate.speedup === null) continue;
      candidate.speedup *= factor;
      const { speedup, times } = candidate;
      if (times) this.journal?.record(candidate, "speed", { speedup, times } satisfies SpeedEntry);
    }
  }

  /** A speed beside the original, as it is beside the float model that integers are made of. */
  besideFloat(speedup: number): number {
    return speedup / this.#gain;
  }

  /** What is profiled beside the prepared model from now on is told as if it were beside the original, like what it is compared with. */
  #learnGain({ times }: Candidate): void {
    if (times?.original) this.#fusedGain = totalMs(times.original) / totalMs(times.float);
  }

  async #profile(candidates: readonly Candidate[]): Promise<void> {
    const { prepared, original, trial, runtime } = this.options;
    // Where float candidates are compared too, what the fusing gains counts; else the prepared model is near enough.
    const baseline = candidates.every(isInteger) ? [] : [original];
    const models = [...baseline, prepared, ...candidates.map(({ built }) => built.path)];
    const times = await this.context.runtime.nodeTimes(models, trial, asDelivered(runtime));
    const float = times[baseline.length]!;
    const before = baseline.length > 0 && { original: times[0]! };
    for (const [i, candidate] of candidates.entries()) {
      candidate.times = { float, own: times[baseline.length + 1 + i]!, ...before };
      this.#learnGain(candidate);
      candidate.speedup = (this.#gain * totalMs(float)) / totalMs(candidate.times.own);
      const { speedup } = candidate;
      this.journal?.record(candidate, "speed", { speedup, times: candidate.times } satisfies SpeedEntry);
      this.#tell(candidate);
    }
  }

  /** What would be made, without making it: of static integers only. */
  plan(variant: Variant, keptFloat: ReadonlyMap<string, string> = new Map()): Plan {
    const { target, excluded } = this.options;
    const statics = variant.kind === "integers" ? variant.recipe.statics : null;
    const keepFloat = new Map([...excluded, ...keptFloat]);
    const nodes = statics ? planStatic(this.model, target, { ...statics.placement, keepFloat }).nodes : [];
    const forms = new Map(nodes.map(({ node }) => [node.name, "static"] as const));
    return { variant, keptFloat, built: { forms } };
  }

  /** Whether the target's table tells what it takes: static integers, where there is one. */
  isByTable = (plan: Pick<Plan, "variant">): boolean => this.options.target.times !== undefined && isStatic(plan);

  /** Null for what is not by the table. */
  estimate(plan: Plan, regions = this.regionsOf(plan)): Estimate | null {
    const { times } = this.options.target;
    if (!times || !this.isByTable(plan)) return null;
    return estimateTimes(this.model, regions, plan.built.forms, times, (label) => this.elementsOf(label));
  }

  /**
   * What each region of a candidate takes, and took in float: by the target's table where there is one,
   * else as profiled; null where neither is.
   */
  regionTimes(plan: Plan, regions: readonly Region[]): ReadonlyMap<string, RegionTime> | null {
    const { times } = plan;
    return (
      this.estimate(plan, regions)?.regions ?? (times ? regionTimes(this.model, regions, times.float, times.own) : null)
    );
  }

  /** Milliseconds that it counts for, by region, that its weights are smaller as integers. */
  worthOfWeights = (regions: readonly Region[], times: ReadonlyMap<string, RegionTime>): ((region: string) => number) =>
    worthOfWeights(this.model, regions, times);

  /** Of a whole run, known in the same way. */
  ownMs(plan: Plan): number | null {
    return this.estimate(plan)?.ownMs ?? (plan.times ? totalMs(plan.times.own) : null);
  }

  /** Of the whole run: what the table does not hold takes as long in both, and the measured speed tells how long: beside the float model, as the table has it. */
  runMs(candidate: Candidate): number | null {
    const estimate = this.estimate(candidate);
    if (!estimate) return this.ownMs(candidate);
    const { floatMs, ownMs } = estimate;
    const speedup = this.besideFloat(candidate.speedup ?? 0);
    const isLess = speedup > 1 && speedup < floatMs / ownMs;
    return ownMs + (isLess ? (floatMs - speedup * ownMs) / (speedup - 1) : 0);
  }

  /** Of the time of a run in float that nodes of these names take, by the target's table; null where there is none. */
  floatShare(nodes: readonly string[]): number | null {
    const { times } = this.options.target;
    if (!times) return null;
    const regions = nodes.map((name) => ({ name, nodes: [name] }));
    const estimate = estimateTimes(this.model, regions, new Map(), times, (label) => this.elementsOf(label));
    const own = [...estimate.regions.values()].reduce((sum, { beforeMs }) => sum + beforeMs, 0);
    return estimate.floatMs > 0 ? own / estimate.floatMs : null;
  }

  regionsOf = ({ built }: Plan): readonly Region[] => regionsOf(this.model, new Set(built.forms.keys()));

  /** Of a tensor, for one sample, on average; 0 where it was not observed. */
  elementsOf(label: string): number {
    return this.options.sizes?.get(label) ?? elementsOfTap(this.#taps?.get(label));
  }

  /** The prepared model, as it is: not to be changed. */
  get model(): Model {
    return (this.#model ??= loadModel(this.options.prepared));
  }

  #tell({ name, speedup, accuracy: facts }: Candidate): void {
    const accuracy = facts?.candidate ?? null;
    this.context.observer({ type: "candidate", candidate: name, speedup, isTimed: false, accuracy });
  }

  async #raceAll(candidates: readonly Candidate[], budgetMs: number): Promise<void> {
    this.#isRaced = true;
    const races = Math.ceil(candidates.length / IN_ONE_RACE);
    for (let at = 0; at < candidates.length; at += IN_ONE_RACE) {
      await this.#race(candidates.slice(at, at + IN_ONE_RACE), budgetMs / races);
    }
  }

  async #race(candidates: readonly Candidate[], budgetMs: number): Promise<void> {
    const { runtime } = this.options;
    const race = await compareLatency(this.context.runtime, {
      baseline: this.options.original,
      candidates: candidates.map(({ built }) => built.path),
      data: this.options.trial,
      session: asDelivered(runtime),
      seed: runtime.seed,
      budgetMs,
      signal: this.context.signal,
      clock: this.context.now,
    });
    candidates.forEach((candidate, i) => {
      candidate.speedup = race.candidates[i]!.speedup;
      this.#tell(candidate);
    });
  }

  #build(variant: Variant, keptFloat: ReadonlyMap<string, string>, path: string): BuiltModel {
    const { prepared, fused = prepared, equalized = prepared, target, excluded, kept } = this.options;
    const { finishing = [], approximating = [], halfWeights } = this.options;
    const keepFloat = new Map([...excluded, ...keptFloat]);
    const isStatic = variant.kind === "integers" && variant.recipe.statics !== null;
    const model = loadModel(isStatic ? equalized : variant.kind === "integers" ? prepared : fused);
    const own = new Set(nodesWithin(model.graph));
    const wide = halfWeights ? weightsToStore(model, halfWeights) : [];
    const save = (facts: Pick<BuiltModel, "forms" | "float" | "notes">): BuiltModel => {
      const finished = runRewrites(model, facts.forms.size > 0 ? [...finishing, ...approximating] : finishing);
      if (halfWeights) storeAsHalf(wide, halfWeights);
      nameAdded(model, own);
      const staged = saveModel(model, path, { isScratch: true });
      staged.commit();
      const bytes = this.options.bytesOf?.(staged) ?? staged.sizeBytes;
      collectPiledUp(PILED_UP_BYTES);
      return { path, bytes, finished, ...facts };
    };
    switch (variant.kind) {
      case "integers": {
        const report = applyRecipe(model, variant.recipe, { target, taps: this.#taps, keepFloat, kept });
        if (this.options.format === "qoperator") toIntegerOperators(model);
        return save(report);
      }
      case "fp16": {
        const report = toFloat16(model, {
          keepIo: true,
          target: "f16",
          keep: (node) => keepFloat.get(node.name) ?? variant.tooWide?.get(node.displayName) ?? null,
        });
        return save({ forms: new Map(), float: report.float, notes: report.notes });
      }
      default:
        return save({ forms: new Map(), float: [], notes: [] });
    }
  }
}

export const elementsOfTap = (tap: TapStatistics | undefined): number =>
  tap && tap.samples > 0 ? tap.count / tap.samples : 0;

const without = (regions: number): string =>
  regions === 0 ? "" : ` -${regions} ${regions === 1 ? "region" : "regions"}`;
