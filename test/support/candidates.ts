/** Candidates without files, a workshop that makes more of them, and a judge of both, on a fake runtime. */
import type { Candidate, Variant } from "../../src/pipeline/candidates/candidate.js";
import type { Region } from "../../src/pipeline/candidates/regions.js";
import type { Workshop } from "../../src/pipeline/candidates/workshop.js";
import type { Limits, OptimizeConfig } from "../../src/pipeline/config.js";
import type { Intake } from "../../src/pipeline/intake.js";
import { SearchFiles } from "../../src/pipeline/resume/search-files.js";
import { RunRecord } from "../../src/pipeline/run-record.js";
import { type Choice, chooseCandidate } from "../../src/pipeline/search/choose-candidate.js";
import { Judge } from "../../src/pipeline/search/judge-candidate.js";
import type { Placement } from "../../src/quantization/plan-static.js";
import { staticRecipe, uniformRecipe } from "../../src/quantization/recipe.js";
import {
  classifier,
  type FakeContext,
  type FakeModel,
  FakeRuntime,
  type FakeRuntimeOptions,
  fakeContext,
} from "./fake-runtime.js";
import { limitsOf, runtimeConfig } from "./run-config.js";

export const integersVariant = (form: "dynamic" | "weights8" | "weights4"): Variant => ({
  kind: "integers",
  recipe: uniformRecipe(form),
});

export const staticVariantOf = (placement: Placement): Variant => ({
  kind: "integers",
  recipe: staticRecipe({ placement, method: "minmax" }),
});

export const staticVariant = staticVariantOf({ neighbours: false, depthwise: true });

export interface Behaviour {
  /** Share of samples on which it is right. */
  readonly accuracy: number;
  /** Milliseconds of a run; the original takes 10. */
  readonly ms: number;
  readonly bytes?: number;
  readonly sqnrDb?: number;
  /** Of a run, by how much more it may take. */
  readonly noise?: number;
}

const SAMPLES = 1000;

/** By the name of a candidate: how it behaves; `kept` with the nodes that are float again. */
export class Stage {
  readonly models: Record<string, FakeModel> = {};
  readonly runtime: FakeRuntime;
  readonly context: FakeContext;
  readonly record: RunRecord;
  readonly discarded: string[] = [];
  readonly made: Candidate[] = [];
  /** What stays float in placements that ranges were observed for in the end. */
  readonly observed: string[] = [];
  /** Milliseconds that the weights of a node are worth as integers; none where it is not named. */
  room: Readonly<Record<string, number>> = {};
  /** Milliseconds that a candidate is said to take; null where that is not known. */
  ownMs: number | null = null;

  constructor(
    readonly kept: (names: readonly string[]) => Behaviour = () => ({ accuracy: 1, ms: 10 }),
    readonly damage: Readonly<Record<string, number>> = {},
    /** Milliseconds that a node saves as an integer; null where nothing was profiled. */
    readonly saved: Readonly<Record<string, number>> | null = null,
    options: FakeRuntimeOptions = {},
  ) {
    this.runtime = new FakeRuntime(this.models, options);
    this.context = fakeContext(this.runtime);
    this.record = new RunRecord("optimize", this.context);
    this.#add("base.onnx", { accuracy: 1, ms: 10 });
  }

  candidate(name: string, variant: Variant, behaviour: Behaviour, quantized: readonly string[] = []): Candidate {
    const { sqnrDb = 30, bytes = 50, ms } = behaviour;
    this.#add(name, behaviour);
    return {
      variant,
      name,
      built: {
        path: name,
        bytes,
        forms: new Map(quantized.map((node) => [node, "static"])),
        float: [],
        notes: [],
        finished: [],
      },
      keptFloat: new Map(),
      sqnrDb,
      speedup: 10 / ms,
      accuracy: null,
      note: "",
    };
  }

  #add(path: string, { accuracy, ms, noise = 0.01 }: Behaviour): void {
    this.models[path] = {
      scores: Array.from({ length: SAMPLES }, (_, i) => (i < Math.round(accuracy * SAMPLES) ? 1 : 0)),
      latency: (chance) => ms * (1 + noise * chance.next()),
    };
  }

  /**
   * Quantizes alone what is not kept; `damage` says what each node costs, in dB.
   *
   * @param told what is told of each: its speed by a profile (as its latency is where that is not given), with the times of that,
   *   and what is found where its error is measured
   */
  workshopFor(
    all: readonly string[],
    alone = all,
    told: Partial<Pick<Candidate, "times">> & { estimate?: number; error?: Partial<Candidate> } = {},
  ): Workshop {
    const { estimate, error, times } = told;
    const workshop = {
      options: { target: { isMeasurable: true } },
      make: (
        variant: Variant,
        keptFloat: Candidate["keptFloat"] = new Map(),
        known: Partial<Candidate> = {},
      ): Candidate => {
        const quantized = all.filter((node) => !keptFloat.has(node));
        const name = `kept ${[...keptFloat.keys()].join(" ")}`;
        const made = {
          ...this.candidate(name, variant, this.kept([...keptFloat.keys()]), quantized),
          keptFloat,
          ...known,
        };
        this.made.push(made);
        return made;
      },
      regionsOf: ({ built }: Candidate) =>
        alone.filter((node) => built.forms.has(node)).map((node) => ({ name: node, nodes: [node] })),
      regionTimes: (_: Candidate, regions: readonly Region[]) =>
        this.saved &&
        new Map(
          regions.map(({ name }) => {
            // Of what only takes room no time is known.
            const beforeMs = this.room[name] ? 0 : 1;
            return [name, { beforeMs, kernelMs: beforeMs - (this.saved?.[name] ?? 0), conversionMs: 0 }];
          }),
        ),
      ownMs: () => this.ownMs,
      runMs: () => this.ownMs,
      floatShare: () => null,
      besideFloat: (speedup: number) => speedup,
      worthOfWeights: () => (region: string) => this.room[region] ?? 0,
      measureError: async (candidates: readonly Candidate[]) => {
        for (const each of candidates) {
          each.sqnrDb = this.damage[[...each.built.forms.keys()][0]!] ?? 99;
          Object.assign(each, error);
        }
      },
      measureSpeed: async (candidates: readonly Candidate[]) => {
        for (const each of candidates) Object.assign(each, { speedup: estimate ?? each.speedup, times });
      },
      reckonBesideOriginal: () => {},
      observeFor: async (kept: ReadonlyMap<string, string>) => void this.observed.push([...kept.keys()].join(" ")),
      discard: ({ name }: Candidate) => void this.discarded.push(name),
    };
    return workshop as unknown as Workshop;
  }

  choose(
    candidates: readonly Candidate[],
    workshop: Workshop,
    ...given: Parameters<Stage["judgeFor"]>
  ): Promise<Choice> {
    const { judge, config } = this.judgeFor(...given);
    return chooseCandidate(candidates, judge, workshop, this.record, config);
  }

  judgeFor(
    limits: Partial<Limits> = {},
    quantize: Partial<OptimizeConfig["quantize"]> = {},
    /** Beside which a journal is kept, and gone on with; null for none. */
    output: string | null = null,
  ): { readonly judge: Judge; readonly config: OptimizeConfig } {
    const config = {
      model: "base.onnx",
      runtime: runtimeConfig({ benchMs: 20_000 }),
      limits: limitsOf(limits),
      quantize: { corrections: [], goal: "speed", searchMs: 1e9, ...quantize },
    } as OptimizeConfig;
    const data = { path: "samples.npz", indices: [0, 1] };
    const intake = {
      facts: { path: "base.onnx", sha256: "", bytes: 100, nodes: 4 },
      signature: classifier,
      evaluation: { ref: data, count: SAMPLES, source: "eval", hasLabels: true },
      metric: { kind: "builtin", name: "top1" },
      trial: data,
    } as unknown as Intake;
    const files = SearchFiles.beside(output, "this search", config.quantize.goal, this.record);
    return { judge: new Judge(config, intake, this.record, files), config };
  }
}
