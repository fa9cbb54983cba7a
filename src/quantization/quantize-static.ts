/** Static integers: where, with which ranges, and written into the graph. */
import type { Model } from "../ir/index.js";
import { chooseRange, clampTap, type TapStatistics } from "../observe/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { effectiveRange } from "./effective-range.js";
import { activationsOf, insertQdq } from "./insert-qdq.js";
import type { NodeChoice } from "./node-choice.js";
import { type FloatNode, type PlannedNode, planStatic, type StaticPlan } from "./plan-static.js";
import type { StaticChoice } from "./recipe.js";
import { activationScheme } from "./scheme.js";

export interface StaticRequest {
  readonly target: IntegerTarget;
  readonly choice: StaticChoice;
  /** By value label. */
  readonly taps: ReadonlyMap<string, TapStatistics>;
}

export interface StaticReport {
  readonly quantized: readonly string[];
  readonly float: readonly FloatNode[];
  readonly notes: readonly string[];
}

export function quantizeStatic(model: Model, request: StaticRequest, nodes: NodeChoice = {}): StaticReport {
  const { target, choice, taps } = request;
  const plan = withKnownRanges(model, request, nodes);
  const schemes = new Map(
    activationsOf(plan).map((value) => {
      const { low, high } = effectiveRange(value);
      const method = choice.methods?.get(value.label) ?? choice.method;
      const range = chooseRange(clampTap(taps.get(value.label)!, low, high), { method });
      return [value.label, activationScheme(range, target.activations)];
    }),
  );
  const { quantized, notes } = insertQdq(model, plan, schemes, target);
  return { quantized, float: plan.float, notes };
}

/**
 * Tensors without usable statistics (never seen, or holding NaN or infinities) keep the
 * nodes around them float: no scale may be made of them. Leaving one out can strand
 * another, so the plan is made again until it stands.
 */
function withKnownRanges(model: Model, { target, choice, taps }: StaticRequest, nodes: NodeChoice): StaticPlan {
  const keepFloat = new Map(nodes.keepFloat);
  for (;;) {
    const plan = planStatic(model, target, { ...choice.placement, ...nodes, keepFloat });
    const before = keepFloat.size;
    for (const planned of plan.nodes) {
      const reason = whyNoRange(planned, taps);
      if (reason) keepFloat.set(planned.node.name, reason);
    }
    if (keepFloat.size === before) return plan;
  }
}

function whyNoRange(planned: PlannedNode, taps: ReadonlyMap<string, TapStatistics>): string | null {
  for (const { label } of activationsOf({ nodes: [planned], float: [] })) {
    const reason = whyUnusable(taps.get(label), label);
    if (reason) return reason;
  }
  return null;
}

function whyUnusable(tap: TapStatistics | undefined, label: string): string | null {
  if (!tap || tap.count === 0) return `no range is known for ${label}`;
  const odd = tap.nanCount + tap.infCount;
  return odd > 0 ? `${label} held ${odd} NaN or infinite values during calibration` : null;
}
