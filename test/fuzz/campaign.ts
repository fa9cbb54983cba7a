/** Many random models, one after the other: what failed, made small, and what the passes did to the others. */
import { messageOf } from "../../src/base/errors.js";
import type { FuzzCase } from "./fuzz-case.js";
import type { Pattern } from "./generate.js";
import { generate } from "./generate.js";
import { culprits, type Fault, judge } from "./judge.js";
import { passNames, type Recipe } from "./rewritten.js";
import { shrink } from "./shrink.js";

export interface CampaignOptions {
  readonly seed: number;
  readonly graphs: number;
  readonly minutes: number;
  readonly recipes: readonly Recipe[];
  /** Failures are left as they are found. */
  readonly keepSize: boolean;
  /** Every pattern as it is comes before the random models. */
  readonly asTheyAre: boolean;
  /** Models to pass over, patterns counted. */
  readonly from: number;
}

export interface Failure extends Fault {
  readonly seed: number;
  readonly culprits: readonly string[];
  readonly case: FuzzCase;
}

export interface CampaignResult {
  readonly graphs: number;
  readonly invalid: number;
  readonly unstable: number;
  readonly sound: number;
  readonly nodesBefore: number;
  readonly nodesAfter: number;
  readonly failures: readonly Failure[];
  /** Applications by pass, over the sound models. */
  readonly applied: Readonly<Record<string, number>>;
  readonly operators: readonly string[];
}

export type Phase = "original" | "rewritten";

/**
 * @param announce called before each step, so that a crash of the process can be told by its number
 * @param onSums called now and then with what there is so far
 */
export async function campaign(
  options: CampaignOptions,
  patterns: readonly Pattern[],
  announce: (index: number, phase: Phase) => void,
  onFailure: (failure: Failure) => void,
  onSums: (sums: CampaignResult) => void,
): Promise<CampaignResult> {
  const counts = { graphs: 0, invalid: 0, unstable: 0, sound: 0, nodesBefore: 0, nodesAfter: 0 };
  const applied = new Map<string, number>(options.recipes.flatMap(passNames).map((name) => [name, 0]));
  const operators = new Set<string>();
  const failures: Failure[] = [];
  const sums = (): CampaignResult => ({
    ...counts,
    ...{ failures, applied: Object.fromEntries(applied), operators: [...operators].sort() },
  });
  const end = performance.now() + options.minutes * 60_000;
  const tryOne = async (
    given: FuzzCase,
    seed: number,
    chosen: readonly Recipe[],
    onRewritten: () => void,
    skip: readonly string[] = [],
  ): Promise<void> => {
    const verdict = await judge(given, { recipes: chosen, seed, skip, onRewritten });
    if (verdict.kind === "invalid") counts.invalid++;
    else if (verdict.kind === "unstable") counts.unstable++;
    else if (verdict.kind === "sound") {
      counts.sound++;
      counts.nodesBefore += verdict.before;
      counts.nodesAfter += verdict.after;
      for (const [name, count] of verdict.applied) applied.set(name, applied.get(name)! + count);
      for (const [, op] of given.text.matchAll(/= "?([A-Za-z0-9_.:]+)"?[<(]/g)) operators.add(op!);
    } else {
      const failure = await explained(given, verdict.fault, seed, options);
      failures.push(failure);
      onFailure(failure);
    }
  };
  const asIs = options.asTheyAre ? patterns.length : 0;
  for (let i = options.from; i < options.graphs + asIs && performance.now() < end; i++) {
    const seed = options.seed + Math.max(i - asIs, 0);
    announce(i, "original");
    if (counts.graphs++ % 10 === 9) onSums(sums());
    const given = i < asIs ? asItIs(patterns[i]!) : await generate(seed, patterns);
    if (!given) {
      counts.invalid++;
      continue;
    }
    await tryOne(given, seed, options.recipes, () => announce(i, "rewritten"));
  }
  // Passes that others forestall have their own patterns to themselves.
  for (const pattern of asIs > 0 ? patterns : []) {
    const recipe = options.recipes.find((each) => passNames(each).includes(pattern.pass));
    if (!recipe || applied.get(pattern.pass) !== 0) continue;
    const others = passNames(recipe).filter((name) => name !== pattern.pass);
    await tryOne(asItIs(pattern), options.seed, [recipe], () => {}, others);
  }
  return sums();
}

const asItIs = ({ text, opset }: Pattern): FuzzCase => ({ text, opset, overridable: [], typed: true });

async function explained(given: FuzzCase, fault: Fault, seed: number, options: CampaignOptions): Promise<Failure> {
  if (options.keepSize) return { ...fault, seed, culprits: [], case: given };
  const fails = async (smaller: FuzzCase): Promise<boolean> => {
    try {
      const verdict = await judge(smaller, { recipes: [fault.recipe], seed });
      return verdict.kind === "fault" && verdict.fault.kind === fault.kind;
    } catch (thrown) {
      throw new Error(`${messageOf(thrown)} while making smaller:\n${smaller.text}`, { cause: thrown });
    }
  };
  const small = await shrink(given, fails);
  const verdict = await judge(small, { recipes: [fault.recipe], seed });
  const last = verdict.kind === "fault" ? verdict.fault : fault;
  return { ...last, seed, culprits: await culprits(small, last, seed), case: small };
}
