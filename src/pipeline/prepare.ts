/**
 * From a model file to the graph that everything else works on: types found out,
 * opset raised (here to what most rewrites need, during the passes to what one of them has use for), passes run, and the result proven to compute the same. When it does
 * not, the pass that is to blame is found by bisection, named, and left out.
 */
import { rmSync } from "node:fs";
import { InferOptError, messageOf } from "../base/errors.js";
import { nearestName } from "../base/nearest.js";
import type { DatasetRef } from "../dataset/index.js";
import { loadModel, type Model, opsetOf, saveModel } from "../ir/index.js";
import { catalog, recipes, runtimeFusions } from "../passes/catalog.js";
import { makeNamesUnique } from "../quantization/names.js";
import { type AnyPass, annotateTypes, PassFailure, type PassReport, runPasses, unknownPass } from "../rewrite/index.js";
import type { ModelSignature, OutputDifference } from "../runtime/port.js";
import type { GraphConfig, RuntimeConfig } from "./config.js";
import type { RunContext } from "./context.js";
import { checkEquivalence, type Equivalence } from "./equivalence.js";
import { describer, evaluator, scratchFile } from "./model-runs.js";
import { opsetRaiser, raiseOpset } from "./raise-opset.js";
import type { PassFacts } from "./result.js";

/**
 * Older opsets are raised to this one: LayerNormalization came with 17, HardSwish with
 * 14, per-channel DequantizeLinear with 13; every runtime since 2022 knows it.
 */
const PREPARED_OPSET = 17;

export interface PrepareRequest {
  readonly model: string;
  /** What the result must agree with, where that is not `model` itself. */
  readonly baseline?: string;
  readonly recipe: Recipe;
  readonly signature: ModelSignature;
  /** Samples, or made-up inputs, on which the result is compared with the original. */
  readonly data: DatasetRef;
  readonly graph: GraphConfig;
  readonly runtime: RuntimeConfig;
  /** Least opset that later steps need, 0 for none. */
  readonly minOpset: number;
}

export interface Prepared {
  readonly model: Model;
  /** The same model as a file in the scratch folder. */
  readonly path: string;
  readonly passes: readonly PassFacts[];
  readonly differences: readonly OutputDifference[];
  readonly warnings: readonly string[];
}

export type Recipe = keyof typeof recipes;

/** What one attempt is allowed to do. */
interface Attempt {
  readonly raiseOpset: boolean;
  /** Passes to run, in catalog order. */
  readonly only: readonly string[];
  readonly maxApplications?: ReadonlyMap<string, number>;
}

interface Outcome {
  readonly model: Model;
  readonly path: string;
  readonly reports: readonly PassReport[];
  readonly warnings: readonly string[];
  /** By pass: the nodes that it was applied to, in order. */
  readonly appliedAt: ReadonlyMap<string, readonly string[]>;
  readonly equivalence: Equivalence;
}

/**
 * @param passes in place of those of the request's recipe
 * Throws PASS_UNKNOWN for a name to skip or to run alone that no pass has, and
 * MODEL_UNFAITHFUL when the model changes merely by being read and written.
 */
export const prepareModel = async (
  request: PrepareRequest,
  context: RunContext,
  passes: readonly AnyPass[] = recipes[request.recipe],
): Promise<Prepared> => new Preparer(request, context, passes).run();

class Preparer {
  readonly #rejected = new Map<string, string>();
  readonly #warnings: string[] = [];

  constructor(
    readonly request: PrepareRequest,
    readonly context: RunContext,
    readonly passes: readonly AnyPass[],
  ) {}

  async run(): Promise<Prepared> {
    const { graph } = this.request;
    for (const name of [...graph.skip, ...graph.only]) refuseUnknownPass(name);
    const chosen = this.#names().filter(
      (name) => !graph.skip.includes(name) && (graph.only.length === 0 || graph.only.includes(name)),
    );
    let passes = chosen;
    let raiseOpset = !graph.keepOpset;
    for (;;) {
      const outcome = await this.#attempt({ raiseOpset, only: passes });
      const { violation, unchecked, differences } = outcome.equivalence;
      if (violation === null) {
        if (unchecked !== null)
          this.#warnings.push(`the rewritten graph was not compared with the original: ${unchecked}`);
        return {
          model: outcome.model,
          path: outcome.path,
          passes: this.#facts(chosen, outcome.reports),
          differences,
          warnings: [...outcome.warnings, ...this.#warnings],
        };
      }
      rmSync(outcome.path, { force: true });
      const culprit = await this.#findCulprit(passes, raiseOpset, violation);
      if (culprit === null) {
        // Not even with no pass at all: what is left is the conversion of the opset, or reading and writing.
        if (!raiseOpset) throw unfaithful(this.request.model, violation);
        raiseOpset = false;
        this.#warnings.push(`the opset was left as it is: converting it changes results (${violation})`);
        continue;
      }
      this.#rejected.set(culprit.pass, culprit.reason);
      this.#warnings.push(`pass rejected: ${culprit.pass} at ${culprit.node} (${culprit.reason})`);
      passes = passes.filter((name) => name !== culprit.pass);
    }
  }

  #names(): readonly string[] {
    return this.passes.map(({ name }) => name);
  }

  /** The first pass whose work makes the result wrong, and the node at which it does. */
  async #findCulprit(
    passes: readonly string[],
    raiseOpset: boolean,
    violation: string,
  ): Promise<{ pass: string; node: string; reason: string } | null> {
    if (passes.length === 0 || (await this.#violation({ raiseOpset, only: [] })) !== null) return null;
    // Invariant: the first `good` passes are right, the first `bad` are wrong.
    let good = 0;
    let bad = passes.length;
    let reason = violation;
    while (bad - good > 1) {
      const middle = (good + bad) >> 1;
      const found = await this.#violation({ raiseOpset, only: passes.slice(0, middle) });
      if (found === null) good = middle;
      else {
        bad = middle;
        reason = found;
      }
    }
    const only = passes.slice(0, bad);
    const pass = only.at(-1)!;
    const all = await this.#attempt({ raiseOpset, only });
    rmSync(all.path, { force: true });
    const sites = all.appliedAt.get(pass) ?? [];
    let right = 0;
    let wrong = sites.length;
    while (wrong - right > 1) {
      const middle = (right + wrong) >> 1;
      const found = await this.#violation({ raiseOpset, only, maxApplications: new Map([[pass, middle]]) });
      if (found === null) right = middle;
      else wrong = middle;
    }
    return { pass, node: sites[wrong - 1] ?? "an unknown node", reason };
  }

  async #violation(attempt: Attempt): Promise<string | null> {
    const outcome = await this.#attempt(attempt);
    rmSync(outcome.path, { force: true });
    return outcome.equivalence.violation;
  }

  async #attempt(attempt: Attempt): Promise<Outcome> {
    const { request, context } = this;
    const warnings: string[] = [];
    const model = loadModel(request.model);
    const describe = describer(request.runtime, context);
    const wanted = Math.max(Math.min(PREPARED_OPSET, request.graph.maxOpset ?? PREPARED_OPSET), request.minOpset);
    if (attempt.raiseOpset && model.opsets.has("") && opsetOf(model) < wanted) {
      const problem = raiseOpset(model, wanted);
      if (problem) warnings.push(`the opset stays at ${opsetOf(model)}: ${problem}`);
    }
    const annotation = await annotateTypes(model, describe);
    if (annotation.problem)
      warnings.push(`shapes could not be found out, so fewer passes apply: ${annotation.problem}`);
    const appliedAt = new Map<string, string[]>();
    let reports: readonly PassReport[] = [];
    const { only } = attempt;
    if (only.length > 0) {
      try {
        reports = await runPasses(model, this.passes, {
          only,
          evaluate: evaluator(request.runtime, context),
          annotate: (each) => annotateTypes(each, describe, { isRepeated: true }),
          check: request.graph.check,
          foldGrowthBytes: request.graph.foldBudgetBytes,
          raiseOpset: attempt.raiseOpset ? opsetRaiser(request.graph.maxOpset) : () => "the opset stays as it is",
          signal: context.signal,
          clock: context.now,
          ...(attempt.maxApplications && { maxApplications: attempt.maxApplications }),
          onEvent: (event) => {
            if (event.type !== "applied") return;
            const sites = appliedAt.get(event.pass) ?? [];
            sites.push(event.node);
            appliedAt.set(event.pass, sites);
          },
        });
      } catch (thrown) {
        if (!(thrown instanceof PassFailure)) throw thrown;
        return this.#withoutFailed(attempt, thrown);
      }
    }
    makeNamesUnique(model);
    const path = scratchFile(context, "prepared");
    saveModel(model, path).commit();
    const equivalence = await checkEquivalence(
      path,
      {
        baseline: request.baseline ?? request.model,
        signature: request.signature,
        data: request.data,
        numerics: request.recipe === "fold" ? "exact" : "rounding",
      },
      request.runtime,
      context,
    );
    return { model, path, reports, warnings, appliedAt, equivalence };
  }

  /** A pass that broke an invariant is left out and named; the model goes on without it. */
  #withoutFailed(attempt: Attempt, failure: PassFailure): Promise<Outcome> {
    this.#rejected.set(failure.pass, failure.message);
    this.#warnings.push(
      `pass rejected: ${failure.pass}${failure.node ? ` at ${failure.node}` : ""} (${messageOf(failure.cause)})`,
    );
    const only = attempt.only.filter((name) => name !== failure.pass);
    return this.#attempt({ ...attempt, only });
  }

  #facts(chosen: readonly string[], reports: readonly PassReport[]): PassFacts[] {
    const byName = new Map(reports.map((report) => [report.name, report]));
    return chosen.map((name) => {
      const report = byName.get(name) ?? { name, applied: 0, skipped: [], durationMs: 0 };
      const rejected = this.#rejected.get(name);
      return { ...report, ...(rejected !== undefined && { rejected }) };
    });
  }
}

/** A name that the recipe lacks is no mistake: the flags may be shared by several commands. */
function refuseUnknownPass(name: string): void {
  const names = [...catalog, ...runtimeFusions].map((pass) => pass.name);
  if (!names.includes(name)) throw unknownPass(name, nearestName(name, names));
}

const unfaithful = (model: string, violation: string): InferOptError =>
  new InferOptError("MODEL_UNFAITHFUL", "runtime", `${model} gives other results once read and written: ${violation}`, {
    hint: "Please report it with the model; nothing was written.",
  });
