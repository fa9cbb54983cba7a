/**
 * Puts nodes back to float, worst first, until the accuracy limit is met: each node is
 * quantized alone to see what it costs at the model's outputs, then the shortest prefix
 * of that ranking which suffices is found by doubling and bisection.
 */
import type { Candidate, Variant } from "./candidate.js";
import type { RunContext } from "./context.js";
import type { Workshop } from "./workshop.js";

export interface KeepFloatRequest {
  /** The candidate that misses the limit. */
  readonly candidate: Candidate;
  readonly workshop: Workshop;
  readonly context: RunContext;
  /** Milliseconds by the context's clock at which to stop looking. */
  readonly deadline: number;
  /** Measures a candidate on the evaluation data and answers whether it meets the limit. */
  readonly meetsLimit: (candidate: Candidate) => Promise<boolean>;
}

export interface KeepFloatOutcome {
  /** The candidate with the fewest float nodes that meets the limit, or null. */
  readonly found: Candidate | null;
  /** Everything that was measured on the way. */
  readonly tried: readonly Candidate[];
}

/** More float nodes than this share of all leave no gain worth having. */
const LARGEST_SHARE = 0.75;

export async function keepWorstFloat(request: KeepFloatRequest): Promise<KeepFloatOutcome> {
  const { candidate, workshop, context, deadline, meetsLimit } = request;
  const ranking = await rankNodes(request);
  const tried: Candidate[] = [];
  const attempt = async (count: number): Promise<Candidate | null> => {
    const kept = new Map(candidate.keptFloat);
    for (const { node, sqnrDb } of ranking.slice(0, count)) kept.set(node, reasonOf(sqnrDb));
    const next = workshop.make(candidate.variant, kept);
    next.note = `${count} of ${ranking.length} nodes kept in float`;
    tried.push(next);
    if (next.built.forms.size > 0 && (await meetsLimit(next))) return next;
    workshop.discard(next);
    return null;
  };

  const largest = Math.floor(ranking.length * LARGEST_SHARE);
  let missed = 0;
  let met = 0;
  let found: Candidate | null = null;
  for (let count = 1; missed < largest && !found && context.now() < deadline; count = Math.min(2 * count, largest)) {
    found = await attempt(count);
    if (found) met = count;
    else missed = count;
  }
  while (found && met - missed > 1 && context.now() < deadline) {
    const middle = (met + missed) >> 1;
    const better = await attempt(middle);
    if (better) {
      workshop.discard(found);
      found = better;
      met = middle;
    } else missed = middle;
  }
  return { found, tried };
}

const reasonOf = (sqnrDb: number): string =>
  Number.isFinite(sqnrDb)
    ? `costs too much accuracy: quantized alone it leaves ${sqnrDb.toFixed(1)} dB SQNR at the output`
    : "kept float to meet the accuracy limit";

interface RankedNode {
  readonly node: string;
  /** Of the outputs when this node alone is quantized; Infinity when there was no time or nothing to measure. */
  readonly sqnrDb: number;
}

/** Worst first. */
async function rankNodes({ candidate, workshop, context, deadline }: KeepFloatRequest): Promise<readonly RankedNode[]> {
  const { variant } = candidate;
  const quantized = [...candidate.built.forms.keys()];
  // Neighbours lie between others: alone they are never quantized, and without the others they go to float by themselves.
  const alone = withoutNeighbours(variant);
  const nodes = namesAlone(workshop, alone, candidate);
  const ranked: RankedNode[] = [];
  // Half of the time at most goes into ranking.
  const stop = context.now() + (deadline - context.now()) / 2;
  let done = 0;
  const size = workshop.batches(nodes.map(() => candidate))[0]!.length;
  for (let at = 0; at < nodes.length; at += size) {
    const names = nodes.slice(at, at + size);
    if (context.now() > stop) {
      ranked.push(...names.map((node) => ({ node, sqnrDb: Number.POSITIVE_INFINITY })));
      continue;
    }
    const singles = names.map((name) => {
      const others = quantized.filter((node) => node !== name);
      const kept = others.map((node) => [node, "measured one at a time"] as const);
      return workshop.make(alone, new Map([...candidate.keptFloat, ...kept]));
    });
    await workshop.measureError(singles);
    singles.forEach((single, i) => {
      ranked.push({ node: names[i]!, sqnrDb: single.sqnrDb ?? Number.POSITIVE_INFINITY });
      workshop.discard(single);
    });
    done += names.length;
    context.observer({ type: "progress", done, total: nodes.length });
  }
  // Equal numbers, infinities among them, keep their order.
  return ranked.sort((a, b) => (a.sqnrDb === b.sqnrDb ? 0 : a.sqnrDb - b.sqnrDb));
}

function namesAlone(workshop: Workshop, alone: Variant, candidate: Candidate): readonly string[] {
  if (alone === candidate.variant) return [...candidate.built.forms.keys()];
  const probe = workshop.make(alone, candidate.keptFloat);
  workshop.discard(probe);
  return [...probe.built.forms.keys()];
}

function withoutNeighbours(variant: Variant): Variant {
  if (variant.kind !== "integers" || !variant.recipe.statics) return variant;
  const { recipe } = variant;
  const { statics } = recipe;
  return {
    kind: "integers",
    recipe: { ...recipe, statics: { ...statics!, placement: { ...statics!.placement, neighbours: false } } },
  };
}
