/**
 * From a model file to the graph that everything else works on: types found out, opset
 * raised (here to what most rewrites need, during the passes to what one of them has use
 * for), passes run, and the result proven to compute the same. When it does not, the pass
 * that is to blame is found by bisection, named, and left out; or its one wrong rewrite.
 */
import { setImmediate } from "node:timers/promises";
import { collectGarbage } from "../../base/collect-garbage.js";
import { InferOptError, messageOf } from "../../base/errors.js";
import type { Numerics } from "../../base/numerics.js";
import { countNodes, linkModel, loadModel, type Model, nodesWithin, opsetOf } from "../../ir/index.js";
import { allPasses, recipes } from "../../passes/catalog.js";
import { makeNamesUnique } from "../../quantization/names.js";
import {
  type AnyPass,
  annotateTypes,
  PassFailure,
  type PassReport,
  runPasses,
  unknownPass,
} from "../../rewrite/index.js";
import type { OutputDifference } from "../../runtime/port.js";
import type { RunContext } from "../context.js";
import { fixShapes } from "../fix-shapes.js";
import { describer, evaluator, linkedFile, linkedTwin, removeLinked, scratchFile } from "../model-runs.js";
import type { EquivalenceFacts, PassFacts } from "../result.js";
import { ScratchWeights } from "../scratch-weights.js";
import { findUnfused, type PassWord, type UnfusedNode } from "../unfused/find-unfused.js";
import { dataToCompare } from "./comparison-data.js";
import { checkEquivalence, type Equivalence, isOpenedToo } from "./equivalence.js";
import { movesLastBits } from "./exactness.js";
import { type Attempt, type Culprit, findCulprit, type Trial } from "./find-culprit.js";
import type { PrepareRequest, Recipe } from "./prepare-request.js";
import { type ProvenanceFacts, provenanceOf } from "./provenance.js";
import {
  applyAskedOpset,
  highestOpset,
  opsetRaiser,
  preparedOpset,
  raiseOpset,
  settleIrVersion,
  targetOf,
  whyKept,
} from "./raise-opset.js";
import { StepChecker } from "./step-checker.js";

export interface Prepared {
  readonly model: Model;
  /** The same model as a linked file in the scratch folder: its weights lie in the original and beside it. */
  readonly path: string;
  readonly passes: readonly PassFacts[];
  /** By pass: the nodes that it was applied at, in turn. What another rewrite took up later is gone by now. */
  readonly appliedAt: ReadonlyMap<string, readonly string[]>;
  /** What nodes stand for in the model that was read; null where that is too much to keep. */
  readonly provenance: readonly ProvenanceFacts[] | null;
  /** What one would expect to be fused and is still there. */
  readonly unfused: readonly UnfusedNode[];
  readonly differences: readonly OutputDifference[];
  readonly equivalence: EquivalenceFacts;
  readonly warnings: readonly string[];
}

/** Recipes that bring a model to the opset that most rewrites need. */
const raising: ReadonlySet<Recipe> = new Set(["fuse", "prepare", "runtimePrepare", "small", "compact"]);

/** Single rewrites of one pass that are left out before the pass is. */
const MOST_BARRED = 8;

/** What there is to say before anything was compared. */
const UNPROVEN: Equivalence = { differences: [], violation: null, unchecked: "it was not compared yet", data: null };

interface Outcome extends Pick<Trial, "appliedAt"> {
  readonly model: Model;
  /** Writes it when first asked for. */
  readonly link: () => string;
  readonly reports: readonly PassReport[];
  readonly unfused: readonly UnfusedNode[];
  readonly warnings: readonly string[];
  /** Compares it with the original, once. */
  readonly verify: () => Promise<Equivalence>;
  /** The pass after which the result was wrong, where each was checked. */
  readonly wrongPass: string | null;
  /** Whether nodes are left that the newer opset needs: what one operator said before can take several there. */
  readonly hasOpsetNodes: boolean;
  drop(): void;
}

/** What the passes made of a model, as long as nobody has compared it with the original. */
export interface Draft {
  readonly prepared: Prepared;
  /** The same with what the comparison said; null where it is wrong, whoever is to blame. */
  ifRight(): Promise<Prepared | null>;
  /** The same; or where it is wrong, what comes of it without the pass that is to blame. Throws as `prepareModel`. */
  prove(): Promise<Prepared>;
}

/** As `prepareModel`, in two steps: most often the first is right, and what comes next can begin with it. */
export const draftModel = (request: PrepareRequest, context: RunContext): Promise<Draft> =>
  new Preparer(request, context, recipes[request.recipe]).draft();

/**
 * @param passes in place of those of the request's recipe
 * Throws PASS_UNKNOWN for a name to skip or to run alone that no pass has, and
 * MODEL_UNFAITHFUL when the model changes merely by being read and written.
 */
export const prepareModel = async (
  request: PrepareRequest,
  context: RunContext,
  passes: readonly AnyPass[] = recipes[request.recipe],
): Promise<Prepared> => (await new Preparer(request, context, passes).draft()).prove();

class Preparer {
  readonly #rejected = new Map<string, string>();
  /** Nodes that a pass must leave alone. */
  readonly #barred = new Map<string, Set<string>>();
  readonly #warnings: string[] = [];
  /** Taken by whoever changes it. */
  #loaded: Model | null;
  #isOpened: boolean | null = null;

  constructor(
    readonly request: PrepareRequest,
    readonly context: RunContext,
    readonly passes: readonly AnyPass[],
  ) {
    this.#loaded = request.loaded ?? null;
  }

  async draft(): Promise<Draft> {
    const { graph } = this.request;
    for (const name of [...graph.skip, ...graph.only]) refuseUnknownPass(name);
    const chosen = this.passes
      .map(({ name }) => name)
      .filter((name) => !graph.skip.includes(name) && (graph.only.length === 0 || graph.only.includes(name)));
    const raiseOpset = !graph.keepOpset && graph.opset === undefined;
    const outcome = await this.#attempt(this.#whole(raiseOpset, chosen));
    const prepared = this.#prepared(outcome, chosen, UNPROVEN);
    const ifRight = async (): Promise<Prepared | null> => {
      const equivalence = await outcome.verify();
      return equivalence.violation === null ? this.#prepared(outcome, chosen, equivalence) : null;
    };
    return { prepared, ifRight, prove: () => this.#prove(outcome, chosen, raiseOpset) };
  }

  #whole(raiseOpset: boolean, only: readonly string[]): Attempt {
    const { meanwhile } = this.request;
    return { raiseOpset, only, ...(meanwhile && { meanwhile }) };
  }

  async #prove(first: Outcome, chosen: readonly string[], mayRaise: boolean): Promise<Prepared> {
    let outcome = first;
    let passes = chosen;
    let raiseOpset = mayRaise;
    for (;;) {
      const equivalence = await outcome.verify();
      const { violation } = equivalence;
      if (violation === null) {
        const best = await this.#smaller(outcome, passes);
        return this.#prepared(best, chosen, await best.verify());
      }
      outcome.drop();
      const { graph } = this.request;
      const culprit = await this.#findCulprit({ raiseOpset, only: passes }, violation, outcome.wrongPass);
      if (culprit === null) {
        // Not even with no pass at all: what is left is the conversion of the opset, or reading and writing.
        if (!raiseOpset) throw unfaithful(this.request.model, graph.opset, violation);
        raiseOpset = false;
        this.#warnings.push(`the opset was left as it is: converting it changes results (${violation})`);
      } else if (!this.#bar(culprit, equivalence.isRefused ?? false)) {
        const where = culprit.node === null ? "" : ` at ${culprit.node}`;
        this.#rejected.set(culprit.pass, culprit.reason);
        this.#warnings.push(`pass rejected: ${culprit.pass}${where} (${culprit.reason})`);
        passes = passes.filter((name) => name !== culprit.pass);
      }
      outcome = await this.#attempt(this.#whole(raiseOpset, passes));
    }
  }

  /** The result at the opset of the file where the newer one has made the graph larger and no pass has made up for it. */
  async #smaller(raised: Outcome, only: readonly string[]): Promise<Outcome> {
    if (!raised.hasOpsetNodes || this.request.minOpset > 0) return raised;
    const plain = await this.#attempt({ raiseOpset: false, only });
    const { violation } = await plain.verify();
    const isBetter = violation === null && countNodes(plain.model.graph) < countNodes(raised.model.graph);
    (isBetter ? raised : plain).drop();
    return isBetter ? plain : raised;
  }

  #prepared(outcome: Outcome, chosen: readonly string[], equivalence: Equivalence): Prepared {
    const { differences, unchecked, unopened, data } = equivalence;
    const { verify: level } = this.request.graph;
    if (unopened !== undefined)
      this.#warnings.push(`ONNX Runtime opens neither this nor the original with all of its rewrites: ${unopened}`);
    if (unchecked !== null && equivalence !== UNPROVEN) {
      this.#warnings.push(`the rewritten graph was not compared with the original: ${unchecked}`);
    }
    return {
      model: outcome.model,
      get path() {
        return outcome.link();
      },
      passes: this.#facts(chosen, outcome.reports),
      appliedAt: outcome.appliedAt,
      provenance: provenanceOf(outcome.model),
      unfused: outcome.unfused,
      differences,
      equivalence: {
        level,
        checked: unchecked === null,
        inputs: unchecked !== null ? null : data?.random ? "made-up" : "samples",
      },
      warnings: [...outcome.warnings, ...this.#warnings],
    };
  }

  /**
   * Leaves a single rewrite out for good; false when it is the whole pass that has to go. Where the runtime refuses
   * the model, the pass computed nothing wrong: a branch that is never taken contradicts what is known now.
   */
  #bar({ pass, node, reason }: Culprit, isRefused: boolean): boolean {
    if (!(this.request.graph.bisect || isRefused) || node === null) return false;
    const nodes = this.#barred.get(pass) ?? new Set();
    // A pass that does not ask before it changes a node would come back here for ever.
    if (nodes.has(node) || nodes.size >= MOST_BARRED) return false;
    this.#barred.set(pass, nodes.add(node));
    this.#warnings.push(`rewrite rejected: ${pass} at ${node} (${reason})`);
    return true;
  }

  /** Null where the result is wrong without any pass too. */
  async #findCulprit(attempt: Attempt, violation: string, wrongPass: string | null): Promise<Culprit | null> {
    const tryOut = async (each: Attempt): Promise<Trial> => {
      const outcome = await this.#attempt(each);
      const { violation } = await outcome.verify();
      outcome.drop();
      return { violation, appliedAt: outcome.appliedAt };
    };
    if (attempt.only.length === 0 || (await tryOut({ ...attempt, only: [] })).violation !== null) return null;
    if (wrongPass !== null) return { pass: wrongPass, node: null, reason: violation };
    return findCulprit(attempt, violation, tryOut);
  }

  async #attempt(attempt: Attempt): Promise<Outcome> {
    const { request, context } = this;
    const { graph } = request;
    const warnings: string[] = [];
    const model = this.#loaded ?? loadModel(request.model);
    this.#loaded = null;
    fixShapes(model, graph.shapes);
    const opset = opsetOf(model);
    // Asked now, as long as the model is the one that was read.
    const dataFor = dataToCompare(model, graph.verify, request.runtime);
    const target = targetOf(graph);
    applyAskedOpset(model, graph);
    const wanted = Math.max(preparedOpset(graph), request.minOpset);
    const ownNodes = new Set(nodesWithin(model.graph));
    if (attempt.raiseOpset && model.opsets.has("") && opsetOf(model) < wanted) {
      const problem = raiseOpset(model, wanted, target);
      if (problem) warnings.push(`the opset stays at ${opsetOf(model)}: ${problem}`);
    }
    const opsetNodes = [...nodesWithin(model.graph)].filter((node) => !ownNodes.has(node));
    const describe = describer(request.runtime, context);
    const isSized = graph.shapes.size > 0;
    const annotation = await annotateTypes(model, describe, { isSized });
    if (annotation.problem)
      warnings.push(`shapes could not be found out, so fewer passes apply: ${annotation.problem}`);
    const appliedAt = new Map<string, string[]>();
    const isShaky = movesLastBits(model);
    const strictest = (numerics: Numerics): Numerics => (isShaky && numerics === "exact" ? "rounding" : numerics);
    const weights = new ScratchWeights(scratchFile(context, "weights"));
    const steps =
      graph.verify === "full"
        ? new StepChecker(
            model,
            (before, after, numerics) => this.#compare(before, after, strictest(numerics), dataFor),
            context,
          )
        : null;
    let reports: readonly PassReport[] = [];
    const { only } = attempt;
    if (only.length > 0) {
      try {
        reports = await runPasses(model, this.passes, {
          only,
          evaluate: evaluator(request.runtime, context),
          annotate: (each) => annotateTypes(each, describe, { isRepeated: true, isSized }),
          check: graph.check,
          foldGrowthBytes: graph.foldBudgetBytes,
          raiseOpset: attempt.raiseOpset ? opsetRaiser(highestOpset(graph), target) : () => this.#whyKept(),
          store: weights.store,
          isBarred: (pass, node) => this.#barred.get(pass)?.has(node) ?? false,
          signal: context.signal,
          clock: context.now,
          ...(steps && { afterPass: (pass) => steps.check(pass) }),
          ...(target && { target }),
          ...(attempt.maxApplications && { maxApplications: attempt.maxApplications }),
          onEvent: (event) => {
            if (event.type !== "applied") return;
            const sites = appliedAt.get(event.pass) ?? [];
            sites.push(event.node);
            appliedAt.set(event.pass, sites);
          },
        });
      } catch (thrown) {
        weights.drop();
        if (!(thrown instanceof PassFailure)) throw thrown;
        return this.#withoutFailed(attempt, thrown);
      } finally {
        steps?.drop();
      }
    }
    // What has been folded may have been what hid the sizes of outputs.
    if (isSized) await annotateTypes(model, describe, { isRepeated: true, isSized });
    weights.close();
    const leftOut = settleIrVersion(model, graph);
    if (leftOut) warnings.push(leftOut);
    // By the names that the passes use.
    const unfused = findUnfused(model, this.#words(reports));
    makeNamesUnique(model);
    let path: string | null = null;
    const link = (): string => {
      if (path === null) {
        path = linkedFile(context, "prepared");
        linkModel(model, path);
      }
      return path;
    };
    const drop = (): void => {
      if (path !== null) removeLinked(path);
      weights.drop();
    };
    const wrongPass = steps?.wrongPass ?? null;
    const hasOpsetNodes = opsetNodes.some(({ attached }) => attached);
    const result = { model, link, reports, unfused, warnings, appliedAt, wrongPass, hasOpsetNodes, drop };
    if (steps?.violation) {
      const known = { differences: [], violation: steps.violation, unchecked: null, data: null };
      return { ...result, verify: async () => known };
    }
    // Where every pass that did something promises the same bits, they must be the same; unless
    // the model that was read is not the one that is compared with.
    const isExact =
      request.baseline === undefined &&
      opsetOf(model) === opset &&
      this.passes.every(({ name, numerics }) => numerics === "exact" || !appliedAt.has(name));
    const isLossy = this.passes.some(({ name, numerics }) => numerics === "lossy" && appliedAt.has(name));
    const numerics = isLossy ? "lossy" : strictest(isExact ? "exact" : "rounding");
    const working = async (): Promise<void> => {
      // What is to be done blocks: the runtime's process gets its work first.
      await setImmediate();
      // Next to a process that holds two models, what the passes left behind is in the way.
      if (graph.verify !== "none") collectGarbage();
      attempt.meanwhile?.(model);
    };
    const compare = async (): Promise<Equivalence> => {
      const [equivalence] = await Promise.all([this.#verify(link, numerics, dataFor), working()]);
      return equivalence;
    };
    let comparing: Promise<Equivalence> | null = null;
    return { ...result, verify: () => (comparing ??= compare()) };
  }

  /** The result against the original; nothing is run when that was not wanted. */
  async #verify(
    link: () => string,
    numerics: Numerics,
    dataFor: ReturnType<typeof dataToCompare>,
  ): Promise<Equivalence> {
    const { request, context } = this;
    if (request.graph.verify === "none") {
      return { differences: [], violation: null, unchecked: "--verify none was asked for", data: null };
    }
    return this.#compare(linkedTwin(request.baseline ?? request.model, context), link(), numerics, dataFor);
  }

  /** Two models as they are written. */
  async #compare(
    baseline: string,
    candidate: string,
    numerics: Numerics,
    dataFor: ReturnType<typeof dataToCompare>,
  ): Promise<Equivalence> {
    const { request, context } = this;
    const { signature, trial, unrunnable } = await request.intake;
    if (unrunnable) return { differences: [], violation: null, unchecked: unrunnable, data: null };
    const original = request.baseline ?? request.model;
    // The same each time, and a search for a culprit asks many times.
    this.#isOpened ??= isOpenedToo(loadModel(original));
    const data = dataFor(trial, signature);
    const check = { baseline, original, signature, data, numerics, isOpened: this.#isOpened };
    return checkEquivalence(candidate, check, request.runtime, context);
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

  /** `fold` and what runs on after the fusions keep the opset by themselves. */
  #whyKept(): string {
    const { graph, recipe } = this.request;
    return raising.has(recipe) ? whyKept(graph) : "the opset stays as it is";
  }

  /** What every pass of the recipe said, or why it has nothing to say. */
  #words(reports: readonly PassReport[]): PassWord[] {
    const skipped = new Map(reports.map((report) => [report.name, report.skipped]));
    const { skip, only } = this.request.graph;
    return this.passes.map(({ name }) => {
      const rejected = this.#rejected.get(name);
      const isLeftOut = skip.includes(name) || (only.length > 0 && !only.includes(name));
      const absent =
        rejected !== undefined ? `its work was undone (${rejected})` : isLeftOut ? "it was left out" : undefined;
      return { name, skipped: skipped.get(name) ?? [], ...(absent !== undefined && { absent }) };
    });
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
export function refuseUnknownPass(name: string): void {
  const names = allPasses.map((pass) => pass.name);
  if (!names.includes(name)) throw unknownPass(name, names);
}

function unfaithful(model: string, opset: number | undefined, violation: string): InferOptError {
  const done = opset === undefined ? "read and written" : `read, brought to opset ${opset} and written`;
  return new InferOptError("MODEL_UNFAITHFUL", "runtime", `${model} gives other results once ${done}: ${violation}`, {
    hint: "Please report it with the model; nothing was written.",
  });
}
