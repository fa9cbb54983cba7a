/** Builds statically quantized candidates from the prepared model and the statistics of its tensors. */
import { invariant } from "../base/errors.js";
import { linkModel, loadModel, type Model, saveModel } from "../ir/index.js";
import { chooseRange, clampTap, type RangeMethod, type TapStatistics } from "../observe/index.js";
import { removeUnreadConstants } from "../quantization/dead-constants.js";
import { effectiveRange } from "../quantization/effective-range.js";
import { quantizeEmbeddings } from "../quantization/embedding.js";
import { activationsOf, insertQdq } from "../quantization/insert-qdq.js";
import { type PlacementOptions, planStatic, type StaticPlan } from "../quantization/plan-static.js";
import { activationScheme } from "../quantization/scheme.js";
import { keepOutputs, tapValues } from "../quantization/tap-model.js";
import { removeWithFeeders } from "../rewrite/index.js";
import type { IntegerTarget } from "../target/integer-kernels.js";
import type { BuiltModel } from "./built-model.js";

export interface StaticBuild {
  readonly prepared: string;
  readonly target: IntegerTarget;
  readonly placement: PlacementOptions;
  readonly method: RangeMethod;
  readonly taps: ReadonlyMap<string, TapStatistics>;
}

/** Labels of the activations that a placement quantizes, in execution order; empty when there are none. */
export const activationLabels = (prepared: string, target: IntegerTarget, placement: PlacementOptions): string[] =>
  activationsOf(planStatic(loadModel(prepared), target, placement)).map(({ label }) => label);

/**
 * Writes a linked copy of the prepared model that computes the values of these labels, makes them
 * outputs, and does nothing else. Returns the outputs' names.
 */
export function writeTapModel(prepared: string, labels: readonly string[], path: string): readonly string[] {
  const model = loadModel(prepared);
  const wanted = new Set(labels);
  const made = [...model.graph.nodes()].flatMap((node) => node.outputs.filter((value) => value !== null));
  const values = [...model.graph.inputs, ...made].filter(({ label }) => wanted.has(label));
  invariant(values.length === wanted.size, "labels name one value each");
  const taps = new Set(tapValues(model, values).values());
  keepOutputs(model, taps);
  for (const node of [...model.graph.nodes()].reverse()) removeWithFeeders(node);
  linkModel(model, path);
  return [...taps];
}

export function writeStatic(build: StaticBuild, path: string): BuiltModel {
  const model = loadModel(build.prepared);
  const plan = withKnownRanges(model, build);
  const ranges = new Map(
    activationsOf(plan).map((value) => {
      const { low, high } = effectiveRange(value);
      return [value.label, chooseRange(clampTap(build.taps.get(value.label)!, low, high), { method: build.method })];
    }),
  );
  const schemes = new Map([...ranges].map(([label, range]) => [label, activationScheme(range)]));
  const report = insertQdq(model, plan, schemes, build.target);
  const tables = quantizeEmbeddings(model, build.placement.keepFloat);
  removeUnreadConstants(model.graph);
  const staged = saveModel(model, path);
  staged.commit();
  return {
    path,
    bytes: staged.sizeBytes,
    quantized: [...report.quantized, ...tables.quantized],
    float: [...plan.float, ...tables.float],
    notes: report.notes,
  };
}

/**
 * Tensors without usable statistics (never seen, or holding NaN or infinities) keep the
 * nodes around them float: no scale may be made of them. Leaving one out can strand
 * another, so the plan is made again until it stands.
 */
function withKnownRanges(model: Model, { target, placement, taps }: StaticBuild): StaticPlan {
  const keepFloat = new Map(placement.keepFloat);
  for (;;) {
    const plan = planStatic(model, target, { ...placement, keepFloat });
    const before = keepFloat.size;
    for (const { node, output } of plan.nodes) {
      for (const value of [...node.inputs, output]) {
        if (!value || value.constant) continue;
        const reason = whyUnusable(taps.get(value.label), value.label);
        if (reason && activationsOf({ nodes: plan.nodes.filter((p) => p.node === node), float: [] }).includes(value)) {
          keepFloat.set(node.name, reason);
        }
      }
    }
    if (keepFloat.size === before) return plan;
  }
}

function whyUnusable(tap: TapStatistics | undefined, label: string): string | null {
  if (!tap || tap.count === 0) return `no range is known for ${label}`;
  const odd = tap.nanCount + tap.infCount;
  return odd > 0 ? `${label} held ${odd} NaN or infinite values during calibration` : null;
}
