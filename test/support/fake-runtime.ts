/** A runtime that runs nothing: it answers with what a test lays down for each model, on a clock that only its timers move. */
import { invariant } from "../../src/base/errors.js";
import { type Random, seededRandom } from "../../src/base/random.js";
import type { RunContext } from "../../src/pipeline/context.js";
import type { RunEvent } from "../../src/pipeline/events.js";
import type { NodeProfile } from "../../src/runtime/node-profile.js";
import type {
  CompareJob,
  ModelSignature,
  NodeTime,
  OutputDifference,
  Placement,
  ProviderFallback,
  Runtime,
  ScoreJob,
  SessionOptions,
  StageTimer,
  Timer,
  TimerSpec,
} from "../../src/runtime/port.js";
import { type FakePipeline, fakeStageTimer } from "./fake-stages.js";

export interface FakeModel {
  readonly signature?: ModelSignature;
  /** One a sample. */
  readonly scores?: readonly number[];
  /** Milliseconds of a run. */
  readonly latency?: (chance: Random) => number;
  /** A pipeline around it. */
  readonly stages?: FakePipeline;
  readonly nodes?: readonly NodeTime[];
  /** What `profileNodes` answers; models without one are those that the pipeline makes itself. */
  readonly profile?: NodeProfile;
  /** One node on cpu, unless told otherwise; an error is what `placement` rejects with. */
  readonly placement?: Placement | Error;
}

export interface FakeRuntimeOptions {
  readonly metric?: { readonly name: string; readonly higherIsBetter: boolean };
  readonly usedReference?: boolean;
  readonly compare?: (job: CompareJob) => readonly OutputDifference[];
  readonly fallbacks?: readonly ProviderFallback[];
  /** Milliseconds that scoring models takes. */
  readonly scoreMs?: number;
}

/** [1, 10] class scores from images, unless told otherwise. */
export const classifier: ModelSignature = {
  inputs: [{ name: "x", dtype: "f32", shape: ["N", 1, 8, 8] }],
  outputs: [{ name: "y", dtype: "f32", shape: ["N", 10] }],
};

/** An output that is equal in both models but for what is said. */
export const differenceOf = (output: string, facts: Partial<OutputDifference> = {}): OutputDifference => ({
  output,
  maxAbs: 0,
  maxMagnitude: 1,
  maxRelative: 0,
  rmse: 0,
  relativeL2: 0,
  sqnrDb: Number.POSITIVE_INFINITY,
  cosine: 1,
  argmaxAgreement: 1,
  intervals: null,
  differing: 0,
  nanMismatch: 0,
  nanOnBoth: 0,
  elements: 10,
  samples: 4,
  variation: { baseline: 1, candidate: 1 },
  faint: null,
  mismatch: null,
  ...facts,
});

/** Operators as [op, provider, nodes, milliseconds]; sums are made of them. */
export function placementOf(
  operators: readonly (readonly [op: string, provider: string, nodes: number, durationMs: number])[],
  parts: Partial<Placement> = {},
): Placement {
  const sum = (of: typeof operators, at: 2 | 3): number => of.reduce((total, operator) => total + operator[at], 0);
  const names = [...new Set(operators.map(([, provider]) => provider))];
  return {
    runs: 3,
    nodes: sum(operators, 2),
    durationMs: sum(operators, 3),
    providers: names.map((name) => {
      const there = operators.filter(([, provider]) => provider === name);
      return { provider: name, nodes: sum(there, 2), durationMs: sum(there, 3) };
    }),
    operators: operators.map(([op, provider, nodes, durationMs]) => ({
      op,
      provider,
      nodes,
      calls: 3 * nodes,
      durationMs,
    })),
    conversions: [],
    islands: [],
    steps: operators.flatMap(([op, provider, nodes, durationMs]) =>
      Array.from({ length: nodes }, (_, i) => ({ name: `${op} ${i}`, op, provider, ms: durationMs / 3 / nodes })),
    ),
    ...parts,
  };
}

/** Nodes as [name, op, milliseconds] on one provider, executed one after the other. */
export function profileOf(
  nodes: readonly (readonly [name: string, op: string, ms: number])[],
  { provider = "cpu", ...parts }: Partial<NodeProfile> & { readonly provider?: string } = {},
): NodeProfile {
  const whole = nodes.reduce((sum, [, , ms]) => sum + ms, 0);
  let startMs = 0;
  return {
    runs: 5,
    leastRunMs: whole,
    medianRunMs: whole,
    steps: nodes.map(([name, op, ms]) => ({
      ...{ name, op, provider, calls: 1, leastMs: ms, medianMs: ms },
      ...{ inputs: [], outputs: [] },
    })),
    timeline: nodes.map(([, , ms], step) => {
      startMs += ms;
      return { step, startMs: startMs - ms, ms };
    }),
    memory: null,
    ...parts,
  };
}

export class FakeRuntime implements Runtime {
  nowMs = 0;
  readonly scored: ScoreJob[] = [];
  readonly compared: CompareJob[] = [];
  readonly timed: TimerSpec[] = [];
  readonly profiled: (readonly string[])[] = [];
  /** Models whose placement was asked for. */
  readonly placed: string[] = [];
  readonly described: { readonly model: string; readonly session: SessionOptions }[] = [];
  private readonly chance = seededRandom(7);

  /** By the path that jobs name. */
  constructor(
    private readonly models: Readonly<Record<string, FakeModel>>,
    private readonly options: FakeRuntimeOptions = {},
  ) {}

  async describe(model: string, session: SessionOptions): Promise<ModelSignature> {
    this.described.push({ model, session });
    return this.models[model]?.signature ?? classifier;
  }

  async score(job: ScoreJob) {
    this.scored.push(job);
    this.nowMs += this.options.scoreMs ?? 0;
    const name = job.metric.kind === "builtin" ? job.metric.name : "module";
    return {
      metric: this.options.metric ?? { name, higherIsBetter: true },
      scores: job.models.map((model) => Float64Array.from(this.models[model]?.scores ?? [1, 1, 1, 1])),
      usedReference: this.options.usedReference ?? name !== "top1",
      ...(job.withEnergies && { energies: new Float64Array(this.models[job.models[0]!]?.scores?.length ?? 4).fill(1) }),
    };
  }

  async advance(): Promise<never> {
    throw new Error("a test that runs parts of models brings its own runtime");
  }

  async train(): Promise<never> {
    throw new Error("a test that trains brings its own runtime");
  }

  /** Keeps nothing: whoever asks runs the model. */
  async answer(): Promise<void> {}

  async reduce(): Promise<never> {
    throw new Error("a test that reduces outputs brings its own runtime");
  }

  async compare(job: CompareJob): Promise<readonly OutputDifference[]> {
    this.compared.push(job);
    return this.options.compare?.(job) ?? [differenceOf("y")];
  }

  async timer(spec: TimerSpec): Promise<Timer> {
    this.timed.push(spec);
    const latency = this.models[spec.model]?.latency;
    invariant(latency, `a test that times ${spec.model} says how long it takes`);
    this.nowMs += 50;
    return {
      loadMs: 40,
      firstRunMs: 5,
      start: { processMs: 15, runtimeMs: 10, sessionMs: 12, runtimeBytes: 6e5, sessionBytes: 8e5 },
      allowed: spec.session.affinity ? [spec.session.affinity] : [],
      measure: async (runs) =>
        Float64Array.from({ length: runs }, () => {
          const ms = latency(this.chance);
          this.nowMs += ms;
          return ms;
        }),
      serve: async (arrivalsMs, onProgress, patience) => {
        const [starts, ends]: number[][] = [[], []];
        let endMs = 0;
        for (const [i, arrival] of arrivalsMs.entries()) {
          if (patience && i >= patience.leastRequests && endMs > patience.untilMs) break;
          const startMs = Math.max(arrival, endMs);
          endMs = startMs + latency(this.chance);
          starts!.push(startMs);
          ends!.push(endMs);
        }
        onProgress?.(ends!.length);
        this.nowMs += endMs;
        return { startMs: Float64Array.from(starts!), endMs: Float64Array.from(ends!) };
      },
      peakRssBytes: async () => 1e6,
      close: async () => {},
    };
  }

  async stages({ model }: { readonly model: string }): Promise<StageTimer> {
    const pipeline = this.models[model]?.stages;
    invariant(pipeline, `a test that times requests of ${model} says what its stages take`);
    return fakeStageTimer(pipeline, (ms) => {
      this.nowMs += ms;
    });
  }

  async placement(model: string): Promise<Placement> {
    this.placed.push(model);
    const placement = this.models[model]?.placement ?? placementOf([["Relu", "cpu", 1, 3]]);
    if (placement instanceof Error) throw placement;
    return placement;
  }

  /** One node that takes as long as the model; `nodes` where a test says more. */
  async nodeTimes(models: readonly string[]): Promise<readonly (readonly NodeTime[])[]> {
    this.profiled.push(models);
    return models.map((model) => {
      const { nodes, latency } = this.models[model] ?? {};
      return nodes ?? [{ name: "all", op: "All", ms: latency?.(this.chance) ?? 1 }];
    });
  }

  /** Of a model that no test laid down: one product of a millisecond and one sum of two. */
  async profileNodes(model: string): Promise<NodeProfile> {
    return (
      this.models[model]?.profile ??
      profileOf([
        ["p", "MatMul", 1],
        ["i", "MatMulInteger", 1],
        ["s", "Add", 2],
      ])
    );
  }

  readonly run = () => Promise.reject(new Error("the fake runtime runs nothing"));
  readonly observe = () => Promise.reject(new Error("the fake runtime observes nothing"));
  fallbacks = (): readonly ProviderFallback[] => this.options.fallbacks ?? [];
  peakRssBytes = (): number => 2e6;
  async close(): Promise<void> {}
}

export interface FakeContext extends RunContext {
  readonly events: RunEvent[];
}

/** A context around a runtime, whose clock is the runtime's when that is a fake. */
export function fakeContext(runtime: Runtime, options: Partial<RunContext> = {}): FakeContext {
  const events: RunEvent[] = [];
  return {
    runtime,
    environment: { cpu: "test", flags: [], cores: 2, platform: "linux-x64", node: "20", onnxruntime: "1.30.0" },
    observer: (event) => void events.push(event),
    signal: new AbortController().signal,
    toolVersion: "0.0.0",
    now: () => (runtime instanceof FakeRuntime ? runtime.nowMs : 0),
    scratch: "/nowhere",
    ...options,
    events,
  };
}
