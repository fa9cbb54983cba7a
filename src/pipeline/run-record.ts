/** What a run has to tell in the end, gathered on the way: stages with their times, warnings, and the result made of them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { InferOptError } from "../base/errors.js";
import { budgetOverrun } from "./budget-overrun.js";
import type { RunContext } from "./context.js";
import type { Stage } from "./events.js";
import type { ModelFacts, RunResult, Verdict } from "./result.js";

type Findings = Partial<Omit<RunResult, "schemaVersion" | "command" | "tool" | "warnings" | "stages" | "resources">> & {
  readonly model: ModelFacts;
  readonly verdict: Verdict;
};

export class RunRecord {
  readonly #started: number;
  readonly #stages: { stage: string; wallMs: number }[] = [];
  /** Of the stage that runs: what those within it took. Others may run beside it. */
  readonly #within = new AsyncLocalStorage<{ ms: number }>();
  readonly #warnings: string[];

  constructor(
    readonly command: string,
    readonly context: RunContext,
    /** Milliseconds for the whole run; null where nobody asked for a limit. */
    readonly budgetMs: number | null = null,
  ) {
    this.#started = context.now();
    this.#warnings = [...(context.warnings ?? [])];
  }

  /** Since the run began. */
  get elapsedMs(): number {
    return this.context.now() - this.#started;
  }

  /**
   * Runs one stage; what stages within it take is theirs alone, so that times add up to that of the run. Rejects with
   * INTERRUPTED instead of starting when the user has interrupted.
   */
  async stage<T>(stage: Stage, work: () => T | Promise<T>, detail?: string): Promise<T> {
    refuseInterrupted(this.context.signal);
    this.context.observer({ type: "stage", stage, ...(detail === undefined ? {} : { detail }) });
    const around = this.#within.getStore();
    const within = { ms: 0 };
    const from = this.context.now();
    try {
      return await this.#within.run(within, work);
    } finally {
      const ms = this.context.now() - from;
      if (around) around.ms += ms;
      // Two side by side take more than the stage that they are in.
      this.#stages.push({ stage, wallMs: Math.max(0, ms - within.ms) });
    }
  }

  /** Tells what of a stage is being done now. */
  doing(stage: Stage, detail: string): void {
    this.context.observer({ type: "stage", stage, detail });
  }

  /** For `onProgress` of jobs. */
  readonly progress = (done: number, total: number): void => this.context.observer({ type: "progress", done, total });

  /** Told now, and once in the result. */
  warn(...warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (this.#warnings.includes(warning)) continue;
      this.#warnings.push(warning);
      this.context.observer({ type: "warning", warning });
    }
  }

  /** Whatever is not given is empty. Providers that were replaced on the way become warnings. */
  result(findings: Findings): RunResult {
    const { context } = this;
    for (const { wanted, used, reason } of context.runtime.fallbacks()) {
      this.warn(`ran on ${used} instead of ${wanted}: ${reason}`);
    }
    const wallMs = this.elapsedMs;
    const overrun = this.budgetMs === null ? null : budgetOverrun(wallMs, this.budgetMs, this.#stages);
    return {
      schemaVersion: 1,
      command: this.command,
      tool: { version: context.toolVersion },
      output: null,
      passes: [],
      quantization: null,
      accuracy: null,
      latency: null,
      candidates: [],
      precision: null,
      difference: [],
      environment: context.environment,
      ...findings,
      warnings: [...this.#warnings, ...(overrun === null ? [] : [overrun])],
      stages: this.#stages,
      resources: { wallMs, peakRssBytes: context.runtime.peakRssBytes() },
    };
  }
}

/** Throws INTERRUPTED once the signal is aborted. */
export function refuseInterrupted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted", { cause: signal.reason });
}
