/**
 * Runs passes in order, again and again until a round changes nothing. Order and
 * counts depend on the model alone, so a caller can stop a pass after n applications
 * and find the one that went wrong.
 */
import { setImmediate } from "node:timers/promises";
import { InferOptError } from "../base/errors.js";
import { check, type Graph, type Model, type Node, opsetOf } from "../ir/index.js";
import type { Target } from "../target/target.js";
import { applyRewrite, type Outcome, type Surroundings, tryRewrite } from "./apply-rewrite.js";
import { PassFailure, unknownPass } from "./errors.js";
import {
  type AnyPass,
  type Evaluate,
  type GraphPass,
  type PassOptions,
  type Rewrite,
  refusalFor,
  type Store,
} from "./pass.js";
import { RootIndex } from "./root-index.js";

export interface SkippedNode {
  readonly node: string;
  readonly reason: string;
}

/** What one pass did, all rounds together. */
export interface PassReport {
  readonly name: string;
  readonly applied: number;
  /** Patterns that were still declined when the pass ran last; each node and reason once. */
  readonly skipped: readonly SkippedNode[];
  readonly durationMs: number;
}

export type PassEvent =
  | { readonly type: "applied"; readonly pass: string; readonly node: string }
  | {
      readonly type: "pass";
      readonly pass: string;
      readonly round: number;
      readonly applied: number;
      readonly durationMs: number;
    };

export interface RunPassesOptions extends Partial<PassOptions> {
  readonly evaluate?: Evaluate;
  /** Writes types on the model's values, after a round in which a pass revealed some. */
  readonly annotate?: (model: Model) => Promise<unknown>;
  /** Check the whole graph after each pass that changed something. */
  readonly check?: boolean;
  readonly maxRounds?: number;
  /** Names of passes to leave out, or to run alone. */
  readonly skip?: readonly string[];
  readonly only?: readonly string[];
  /** Applications allowed per pass, by name; without an entry, any number. */
  readonly maxApplications?: ReadonlyMap<string, number>;
  /**
   * Raises the model in place to an opset that a rewrite has use for; answers why that cannot be,
   * null when it is done. Without it, rewrites that need a later opset than the model's are not tried.
   */
  readonly raiseOpset?: (model: Model, version: number) => string | null;
  /** Nodes that a pass must leave alone, by the name that reports give them. */
  readonly isBarred?: (pass: string, node: string) => boolean;
  /** Where large new tensors go; without it they stay in memory. */
  readonly store?: Store;
  /** Called after each pass that changed something; what it throws ends the run. */
  readonly afterPass?: (pass: AnyPass) => void | Promise<void>;
  /** Where the model is to run: rewrites that would leave it with an operator that is not taken there are declined. */
  readonly target?: Target;
  readonly onEvent?: (event: PassEvent) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds; for durations only. */
  readonly clock?: () => number;
}

const DEFAULT_ROUNDS = 12;
const LONGEST_TURN_MS = 20;
const DEFAULT_FOLD_GROWTH_BYTES = 64 << 10;

interface Progress {
  readonly pass: AnyPass;
  applied: number;
  durationMs: number;
  skipped: Map<string, SkippedNode>;
  readonly ledger: Map<string, number>;
  /** Changes of the graph, by all passes, when this one ran last: as long as there are no more, it has nothing new to see. */
  seen: number;
}

/**
 * Edits the model in place. One report per pass, in the order of the list.
 * Throws PASS_UNKNOWN for a name in `skip`, `only` or `maxApplications` that no pass
 * has, and PassFailure for a fault of ours; the model is then in an unknown state.
 */
export async function runPasses(
  model: Model,
  passes: readonly AnyPass[],
  options: RunPassesOptions = {},
): Promise<PassReport[]> {
  const chosen = choose(passes, options).map(begin);
  const isLast = ({ pass }: Progress): boolean => pass.kind === "rewrite" && pass.runsLast === true;
  for (const part of [chosen.filter((each) => !isLast(each)), chosen.filter(isLast)])
    await runRounds(model, part, options);
  return chosen.map(reportOf);
}

/** In order, until a round changes nothing. */
async function runRounds(model: Model, chosen: readonly Progress[], options: RunPassesOptions): Promise<void> {
  const clock = options.clock ?? (() => performance.now());
  const rounds = options.maxRounds ?? DEFAULT_ROUNDS;
  const index = new RootIndex(model.graph);
  let changes = 0;
  let rested = clock();
  for (let round = 1; round <= rounds; round++) {
    const changesBefore = changes;
    let revealed = false;
    for (const progress of chosen) {
      // A key that interrupts, and whoever draws what goes on, wait for their turn.
      if (clock() - rested > LONGEST_TURN_MS) {
        await setImmediate();
        rested = clock();
      }
      options.signal?.throwIfAborted();
      const { pass } = progress;
      if (progress.seen === changes) continue;
      const start = clock();
      const before = progress.applied;
      progress.skipped = new Map();
      await runPass(model, progress, index, options);
      const applied = progress.applied - before;
      if (applied > 0 || pass.kind === "graph") index.forget();
      progress.seen = changes;
      changes += applied;
      if (options.check && applied > 0) checkAfter(model.graph, pass.name);
      const durationMs = clock() - start;
      progress.durationMs += durationMs;
      if (applied > 0 && pass.revealsTypes === "at once") await options.annotate?.(model);
      else revealed ||= applied > 0 && pass.revealsTypes !== undefined;
      options.onEvent?.({ type: "pass", pass: pass.name, round, applied, durationMs });
      if (applied > 0) await options.afterPass?.(pass);
    }
    if (changes === changesBefore) break;
    if (revealed) {
      await options.annotate?.(model);
      // What is known now is new to every pass.
      changes++;
    }
  }
}

/** Rewrites alone, at once, until none finds anything to do. */
export function runRewrites(model: Model, rewrites: readonly Rewrite[]): PassReport[] {
  const index = new RootIndex(model.graph);
  const all = rewrites.map((pass) => ({ pass, progress: begin(pass) }));
  for (let round = 1, isChanged = true; isChanged && round <= DEFAULT_ROUNDS; round++) {
    isChanged = false;
    for (const { pass, progress } of all) {
      const before = progress.applied;
      progress.skipped = new Map();
      runRewrite(model, pass, progress, index, {});
      if (progress.applied === before) continue;
      index.forget();
      isChanged = true;
    }
  }
  return all.map(({ progress }) => reportOf(progress));
}

const reportOf = ({ pass, applied, durationMs, skipped }: Progress): PassReport => ({
  name: pass.name,
  applied,
  skipped: [...skipped.values()],
  durationMs,
});

const begin = (pass: AnyPass): Progress => ({
  pass,
  applied: 0,
  durationMs: 0,
  skipped: new Map(),
  ledger: new Map(),
  seen: -1,
});

function choose(passes: readonly AnyPass[], { skip = [], only, maxApplications }: RunPassesOptions): AnyPass[] {
  const names = passes.map(({ name }) => name);
  for (const name of [...skip, ...(only ?? []), ...(maxApplications?.keys() ?? [])]) {
    if (!names.includes(name)) throw unknownPass(name, names);
  }
  return passes.filter(({ name }) => !skip.includes(name) && (!only || only.includes(name)));
}

async function runPass(model: Model, progress: Progress, index: RootIndex, options: RunPassesOptions): Promise<void> {
  const { pass } = progress;
  try {
    if (pass.kind === "rewrite") runRewrite(model, pass, progress, index, options);
    else await runGraphPass(model, pass, progress, options);
  } catch (thrown) {
    if (thrown instanceof InferOptError || thrown instanceof PassFailure) throw thrown;
    throw new PassFailure(pass.name, null, thrown);
  }
}

function runRewrite(
  model: Model,
  pass: Rewrite,
  progress: Progress,
  index: RootIndex,
  options: RunPassesOptions,
): void {
  if (pass.minOpset !== undefined && opsetOf(model) < pass.minOpset) {
    if (!raiseFor(model, pass, pass.minOpset, progress, index, options)) return;
    // The conversion may have changed any node.
    index.forget();
  }
  const surroundings = surroundingsIn(model, options);
  for (const node of index.nodesOf(pass.roots)) {
    // A rewrite at an earlier root may have taken this one along.
    if (!isLive(node)) continue;
    if (!mayApply(progress, options)) return;
    const title = node.displayName;
    if (options.isBarred?.(pass.name, title)) continue;
    const outcome = atNode(pass, title, () => applyRewrite(pass, node, surroundings));
    if (outcome.kind === "skip") noteSkip(progress, title, outcome.reason);
    if (outcome.kind === "applied") noteApplied(progress, title, options);
  }
}

const surroundingsIn = (model: Model, { store, target }: RunPassesOptions): Surroundings => ({
  model,
  store: store ?? inMemory,
  target: target ?? null,
  memory: new Map(),
});

/**
 * Whether the model is now of the opset that a rewrite needs. It is raised only where the
 * rewrite has something to do, and not when it is allowed no more applications: then the
 * pass leaves no trace, as one that is left out.
 */
function raiseFor(
  model: Model,
  pass: Rewrite,
  version: number,
  progress: Progress,
  index: RootIndex,
  options: RunPassesOptions,
): boolean {
  if (!options.raiseOpset || !mayApply(progress, options)) return false;
  let problem: string | null = null;
  const surroundings = surroundingsIn(model, options);
  for (const node of index.nodesOf(pass.roots)) {
    const title = node.displayName;
    const outcome = atNode(pass, title, () => tryRewrite(pass, node, surroundings, version));
    if (outcome.kind === "skip") noteSkip(progress, title, outcome.reason);
    if (outcome.kind !== "applied") continue;
    problem ??= options.raiseOpset(model, version);
    if (problem === null) {
      // The run that follows says again what is declined.
      progress.skipped.clear();
      return true;
    }
    noteSkip(progress, title, `needs opset ${version}: ${problem}`);
  }
  return false;
}

/** Runs what a rewrite does at a node; a fault of it becomes one with its name on it. */
function atNode(pass: Rewrite, node: string, run: () => Outcome): Outcome {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof InferOptError) throw thrown;
    throw new PassFailure(pass.name, node, thrown);
  }
}

/** Attached, and so is everything around it. */
function isLive(node: Node): boolean {
  for (let at: Node | null = node; at; at = at.graph.owner) if (!at.attached) return false;
  return true;
}

async function runGraphPass(
  model: Model,
  pass: GraphPass,
  progress: Progress,
  options: RunPassesOptions,
): Promise<void> {
  const refusal = refusalFor(pass, options.target);
  await pass.run({
    model,
    evaluate: options.evaluate ?? null,
    options: { foldGrowthBytes: options.foldGrowthBytes ?? DEFAULT_FOLD_GROWTH_BYTES },
    ledger: progress.ledger,
    store: options.store ?? inMemory,
    mayChange: (node) => !options.isBarred?.(pass.name, node),
    claim: (node) => {
      if (refusal !== null) {
        noteSkip(progress, node, refusal);
        return false;
      }
      if (!mayApply(progress, options) || options.isBarred?.(pass.name, node)) return false;
      noteApplied(progress, node, options);
      return true;
    },
    skipped: (node, reason) => noteSkip(progress, node, reason),
  });
}

const inMemory: Store = (tensor) => tensor;

const mayApply = ({ pass, applied }: Progress, { maxApplications }: RunPassesOptions): boolean =>
  applied < (maxApplications?.get(pass.name) ?? Number.POSITIVE_INFINITY);

function noteApplied(progress: Progress, node: string, { onEvent }: RunPassesOptions): void {
  progress.applied++;
  onEvent?.({ type: "applied", pass: progress.pass.name, node });
}

function noteSkip(progress: Progress, node: string, reason: string): void {
  const key = `${node}\n${reason}`;
  if (!progress.skipped.has(key)) progress.skipped.set(key, { node, reason });
}

function checkAfter(graph: Graph, pass: string): void {
  try {
    check(graph);
  } catch (thrown) {
    throw new PassFailure(pass, null, thrown);
  }
}
