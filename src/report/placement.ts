/** Where a model's nodes ran and what their time went to, in words that the text and the Markdown share. */
import { withoutBlocks } from "../pipeline/output/written-name.js";
import type { OperatorShare, OperatorTimesFacts } from "../pipeline/profile/operator-times.js";
import type { PlacementFacts } from "../pipeline/result.js";
import { middles } from "./escape.js";
import { count, plural, significant } from "./numbers.js";

export interface PlacementNote {
  readonly title: string;
  readonly text: string;
}

const MOST_NAMED = 3;

/**
 * None for a model on cpu that only computes. Texts hold names from the model: escape them.
 *
 * @param times of the same model where the report tells them too: shares of operators are of those, so that both add up
 */
export function placementNotes(placement: PlacementFacts, times?: OperatorTimesFacts): PlacementNote[] {
  return [...whereItRan(placement), ...conversions(placement, times?.after ?? []), ...islands(placement)];
}

/** Its part of the time, "1.2 %". */
export const timeShare = (durationMs: number, { durationMs: whole }: PlacementFacts): string =>
  shareOf(durationMs, whole);

function shareOf(ms: number, whole: number): string {
  const percent = (100 * ms) / Math.max(whole, Number.MIN_VALUE);
  return `${percent > 0 && percent < 0.1 ? "under 0.1" : significant(percent, 2)} %`;
}

function whereItRan(placement: PlacementFacts): PlacementNote[] {
  const { provider: wanted, providers, nodes } = placement;
  if (wanted === "cpu") return [];
  const there = providers.find(({ provider }) => provider === wanted);
  const others = providers.filter(({ provider }) => provider !== wanted);
  const parts = [
    `${count(there?.nodes ?? 0)} of ${plural(nodes, "node")} on ${wanted}`,
    ...others.map(
      (other) => `${count(other.nodes)} on ${other.provider} (${timeShare(other.durationMs, placement)} of the time)`,
    ),
  ];
  return [{ title: "placement", text: parts.join(", ") }];
}

function conversions(placement: PlacementFacts, times: readonly OperatorShare[]): PlacementNote[] {
  if (placement.conversions.length === 0) return [];
  const known = new Map(times.map(({ op, ms }) => [op, ms]));
  const isTold = placement.conversions.every(({ op }) => known.has(op));
  const whole = isTold ? times.reduce((sum, { ms }) => sum + ms, 0) : placement.durationMs;
  const found = placement.conversions
    .map(({ durationMs, ...each }) => ({ ...each, ms: isTold ? known.get(each.op)! : durationMs }))
    .sort((a, b) => b.ms - a.ms);
  const parts = found.slice(0, MOST_NAMED).map(({ op, ms }) => `${op} ${shareOf(ms, whole)}`);
  const inserted = found.reduce((sum, each) => sum + each.inserted, 0);
  const total = shareOf(
    found.reduce((sum, { ms }) => sum + ms, 0),
    whole,
  );
  const all = plural(
    found.reduce((sum, { nodes }) => sum + nodes, 0),
    "node",
  );
  const added = inserted > 0 ? `, ${count(inserted)} inserted by the runtime` : "";
  return [{ title: "conversions", text: `${total} of the time: ${parts.join(", ")} (${all}${added})` }];
}

function islands(placement: PlacementFacts): PlacementNote[] {
  const { islands: found } = placement;
  if (found.length === 0) return [];
  const total = timeShare(
    found.reduce((sum, { durationMs }) => sum + durationMs, 0),
    placement,
  );
  const named = middles(
    found.slice(0, MOST_NAMED).map(({ node, op }) => withoutBlocks(node) || op),
    32,
  );
  const more = found.length > MOST_NAMED ? `, and ${count(found.length - MOST_NAMED)} more` : "";
  const what = `${plural(found.length, "node")} between integers`;
  return [{ title: "float islands", text: `${total} of the time in ${what}: ${named.join(", ")}${more}` }];
}
