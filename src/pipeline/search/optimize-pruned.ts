/**
 * `optimize --prune`: narrower nets first, then what `optimize` does with each of them and with the whole one. Every file is
 * judged as a whole against the model as it came, with the limits of the run, and timed beside it; the best that meets all of them
 * is delivered, and those that no other exceeds in speed, accuracy and size are listed.
 */
import { InferOptError } from "../../base/errors.js";
import { loadModel, type Model, nodesWithin } from "../../ir/index.js";
import type { OptimizeConfig, PruneConfig, Selection } from "../config.js";
import type { RunContext } from "../context.js";
import type { Intake } from "../intake.js";
import { scratchFile } from "../model-runs.js";
import { writeJudged } from "../output/write-output.js";
import type { Tried } from "../prune/net-trials.js";
import { type Found, findingsOf, PruneRun, whyNothing } from "../prune/run-prune.js";
import { commandsFor } from "../reproduce.js";
import type { CandidateFacts, RunResult } from "../result.js";
import { SearchFiles } from "../resume/search-files.js";
import { searchIdentity } from "../resume/search-identity.js";
import { RunRecord } from "../run-record.js";
import { selectNodes } from "../select.js";
import { requireLimit } from "../verdict/required-limit.js";
import { OptimizeRun } from "./optimize.js";
import { bestFirst, undominated, type Way } from "./ways.js";

export const runOptimizePruned = (config: OptimizeConfig, context: RunContext): Promise<RunResult> =>
  new PrunedRun(config, context).run();

/** Narrower nets that go on to integers: where the fastest leaves too little accuracy for them, the next one may not. */
const MOST_NETS = 2;
/** Of a time for the whole run: what has been spent when each part should end. */
const PRUNED_BY = 0.5;
const WHOLE_BY = 0.7;

class PrunedRun {
  readonly record: RunRecord;
  #files: SearchFiles | null = null;

  constructor(
    readonly config: OptimizeConfig,
    readonly context: RunContext,
  ) {
    if (config.limits.maxDrop === "none") {
      throw new InferOptError(
        "FLAG_INVALID",
        "usage",
        "--prune: --max-drop none is no limit, so nothing says how narrow is too narrow",
        {
          hint: "Say how much accuracy may be lost: --max-drop 1%.",
          fields: { flag: "--prune" },
        },
      );
    }
    requireLimit(config);
    this.record = new RunRecord("optimize", context, config.quantize.budgetMs ?? null);
  }

  async run(): Promise<RunResult> {
    try {
      return await this.#run();
    } catch (thrown) {
      throw this.#files ? this.#files.failed(thrown, this.context.signal) : thrown;
    }
  }

  async #run(): Promise<RunResult> {
    const { record, config } = this;
    const found = await this.#pruned();
    const nets = await this.#netsOf(found);
    if (!found.search || nets.length === 0)
      record.warn(found.search ? "no narrower net is accurate enough" : `not pruned: ${whyNothing(found.map)}`);
    const ways: Way[] = [await this.#whole()];
    for (const net of nets) ways.push(this.#alone(found, net));
    for (const net of nets) {
      const selection = selectionIn(loadModel(net.file.path), found, config);
      if (!selection) continue;
      const way = await this.#combined(found, net, selection);
      ways.push(way);
      if (way.verdict.outcome === "met") break;
    }
    const [best] = bestFirst(ways, config.quantize.goal);
    return this.#finish(found.intake, ways, best!);
  }

  #pruned(): Promise<Found> {
    const { config, context, record } = this;
    const { budgetMs = null, goal } = config.quantize;
    const prune: PruneConfig["prune"] = {
      ...{ targetSpeedup: null, keepRatio: null, widths: null, sparsity: null, recover: false, goal },
      selection: config.quantize.selection,
      budgetMs: budgetMs === null ? null : PRUNED_BY * budgetMs,
    };
    const part = { record, files: (intake: Intake) => this.#begin(intake) };
    return new PruneRun({ ...config, prune }, context, part).find();
  }

  /** What outlives all parts of the run when it is cut short. */
  #begin(intake: Intake): SearchFiles | null {
    const { config, record, context } = this;
    const identity = searchIdentity("optimize --prune", config, intake, context);
    return (this.#files ??= SearchFiles.beside(config.out.output, identity, config.quantize.goal, record));
  }

  /** Accurate ones, the fastest first. */
  async #netsOf({ search }: Found): Promise<readonly Tried[]> {
    if (!search) return [];
    const accurate = search.tried.filter(({ file, measured }) => search.judge.isAccurate(file, measured));
    const speedOf = ({ measured }: Tried): number => measured.latency?.facts.speedup ?? 0;
    const nets = accurate.sort((a, b) => speedOf(b) - speedOf(a)).slice(0, MOST_NETS);
    for (const net of nets) await search.complete(net);
    return nets;
  }

  async #whole(): Promise<Way> {
    const { config } = this;
    const result = await this.#part("whole", config, WHOLE_BY).run();
    return { ...wayOf(result, chosenName(result)), commands: commandsFor(config, null) };
  }

  #alone(found: Found, net: Tried): Way {
    const findings = findingsOf(found, found.search!, net);
    const { verdict } = found.search!.rule(net);
    const { latency, accuracy } = findings;
    return {
      ...{ name: prunedName(net), findings, verdict, latency, accuracy },
      ...{ bytes: net.file.bytes, path: net.file.path, candidates: findings.candidates },
      commands: commandsFor(this.config, widthsOf(found, net), false),
    };
  }

  async #combined(found: Found, net: Tried, selection: Selection): Promise<Way> {
    const { config } = this;
    const name = prunedName(net);
    const quantize = { ...config.quantize, selection };
    const narrowed = { ...config, quantize, model: net.file.path, baseline: config.model };
    const result = await this.#part(name, narrowed, 1).run();
    const { pruning } = findingsOf(found, found.search!, net);
    const way = wayOf(result, `${name}, then ${chosenName(result)}`);
    return {
      ...way,
      findings: { ...way.findings, pruning },
      candidates: result.candidates.map((each) => ({ ...each, name: `${name}, ${each.name}` })),
      commands: commandsFor(config, widthsOf(found, net)),
    };
  }

  /** A run of its own, whose file goes where the best of all is taken from. */
  #part(name: string, config: OptimizeConfig, by: number): OptimizeRun {
    const { record, context } = this;
    const path = scratchFile(context, "way");
    const { budgetMs = null } = config.quantize;
    const quantize = { ...config.quantize, ...(budgetMs !== null && { budgetMs: by * budgetMs }) };
    const out = { output: path, externalData: config.out.externalData, keepRejected: true };
    const files = (intake: Intake): SearchFiles | null => {
      const all = this.#begin(intake);
      all?.journal.begin(name);
      return all;
    };
    return new OptimizeRun("optimize", { ...config, out, quantize }, context, { record, files });
  }

  async #finish({ facts, original }: Intake, ways: readonly Way[], best: Way): Promise<RunResult> {
    const { config, record } = this;
    const isMet = best.verdict.outcome === "met";
    const write = async () => (best.path ? writeJudged(isMet, best.path, original, config, record) : null);
    const output = await (this.#files?.write(write) ?? write());
    this.#files?.remove();
    const { baseline: _baseline, ...findings } = best.findings;
    return record.result({
      ...findings,
      model: facts,
      output,
      verdict: best.verdict,
      candidates: ways.flatMap((way) =>
        way.candidates.map((each): CandidateFacts => ({ ...each, chosen: way === best && isMet && each.chosen })),
      ),
      pareto: undominated(ways, best),
    });
  }
}

/** Its file is where the run put it, or the one that it refused. */
const wayOf = (result: RunResult, name: string): Omit<Way, "commands"> => ({
  ...{ name, findings: result, verdict: result.verdict, latency: result.latency, accuracy: result.accuracy },
  ...{ bytes: result.output?.bytes ?? result.model.bytes, path: result.output?.path ?? null },
  candidates: result.candidates,
});

const chosenName = ({ candidates }: RunResult): string => candidates.find(({ chosen }) => chosen)?.name ?? "as it is";

const prunedName = ({ measured }: Tried): string => `pruned ${measured.latency!.facts.speedup.toFixed(2)}x`;

const widthsOf = ({ groups }: Found, { widths }: Tried): readonly number[] =>
  groups.map((group) => widths.get(group) ?? group.width);

/**
 * What --include and --exclude mean in a narrower net, by the names of its nodes: what they were made of is not told there, and some
 * are gone. Null where nothing is left of what is included.
 */
export function selectionIn(
  narrower: Model,
  { prepared }: Pick<Found, "prepared">,
  { quantize: { selection } }: Pick<OptimizeConfig, "quantize">,
): Selection | null {
  const left = new Set(Array.from(nodesWithin(narrower.graph), ({ displayName }) => displayName));
  const named = (selectors: readonly string[], flag: string): readonly string[] =>
    selectors.flatMap((selector) => [...selectNodes(prepared.model, selector, flag)].filter((name) => left.has(name)));
  const include = named(selection.include, "--include");
  const isNothing = selection.include.length > 0 && include.length === 0;
  return isNothing ? null : { include, exclude: named(selection.exclude, "--exclude") };
}
