/** Static integers: where, with which ranges, and written into the graph. */
import type { Model, Value } from "../ir/index.js";
import { chooseRange, type TapRange, type TapStatistics } from "../observe/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { effectiveTap } from "./effective-range.js";
import { activationsOf, insertQdq } from "./insert-qdq.js";
import { withJoinedParts } from "./joined-schemes.js";
import type { KeptIntegers } from "./kept-integers.js";
import { crowdedNotes, whyMixed } from "./mixed-ranges.js";
import type { NodeChoice } from "./node-choice.js";
import { type FloatNode, type PlannedNode, planStatic, type StaticPlan } from "./plan-static.js";
import { methodFor, type StaticChoice } from "./recipe.js";
import { activationScheme } from "./scheme.js";
import type { WeightStore } from "./weight-store.js";

export interface StaticRequest {
  readonly target: IntegerTarget;
  readonly choice: StaticChoice;
  /** By value label. */
  readonly taps: ReadonlyMap<string, TapStatistics>;
  readonly kept?: KeptIntegers | undefined;
}

export interface StaticReport {
  readonly quantized: readonly string[];
  readonly float: readonly FloatNode[];
  readonly notes: readonly string[];
  readonly store: WeightStore;
}

export function quantizeStatic(model: Model, request: StaticRequest, nodes: NodeChoice = {}): StaticReport {
  const { target, taps, choice } = request;
  const rangeOf = rangesOf(request);
  const plan = withKnownRanges(model, request, nodes, rangeOf);
  const ranges = new Map(activationsOf(plan).map((value) => [value.label, rangeOf(value)!]));
  const schemes = new Map([...ranges].map(([label, range]) => [label, activationScheme(range, target.activations)]));
  const joined = withJoinedParts(model, plan, schemes);
  const { quantized, notes, store } = insertQdq(model, plan, joined, target, choice.inputs, request.kept);
  return { quantized, float: plan.float, notes: [...notes, ...crowdedNotes(ranges, taps)], store };
}

type RangeOf = (value: Value) => TapRange | null;

/** The range of a value by its method; null where there are no usable statistics. Before the graph changes. */
function rangesOf({ choice, taps }: StaticRequest): RangeOf {
  const known = new Map<Value, TapRange | null>();
  const find = (value: Value): TapRange | null => {
    const tap = taps.get(value.label);
    if (!tap || whyUnusable(tap, value.label)) return null;
    return chooseRange(effectiveTap(value, tap), { method: methodFor(choice, value.label) });
  };
  return (value) => {
    let range = known.get(value);
    if (range === undefined) {
      range = find(value);
      known.set(value, range);
    }
    return range;
  };
}

/**
 * Tensors without usable statistics (never seen, or holding NaN or infinities) keep the
 * nodes around them float: no scale may be made of them. So do joined branches that no
 * scale fits together. Leaving one out can strand another, so the plan is made again until it stands.
 */
function withKnownRanges(
  model: Model,
  { target, choice, taps }: StaticRequest,
  nodes: NodeChoice,
  rangeOf: RangeOf,
): StaticPlan {
  const keepFloat = new Map(nodes.keepFloat);
  for (;;) {
    const plan = planStatic(model, target, { ...choice.placement, ...nodes, keepFloat });
    const before = keepFloat.size;
    for (const planned of plan.nodes) {
      const reason = whyNoRange(planned, taps) ?? whyMixed(planned.node, rangeOf);
      if (reason) keepFloat.set(planned.node.name, reason);
    }
    if (keepFloat.size === before) return plan;
  }
}

function whyNoRange(planned: PlannedNode, taps: ReadonlyMap<string, TapStatistics>): string | null {
  for (const { label } of activationsOf({ nodes: [planned] })) {
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
