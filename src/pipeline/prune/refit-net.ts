/**
 * Fits the layers of a pruned net one after the other, each to what it made in the original, on inputs from the pruned net
 * as it is by then. The sums of one wave of layers, those that do not depend on one another, are held at a time.
 */
import type { DatasetRef } from "../../dataset/index.js";
import type { Node, Value } from "../../ir/index.js";
import { type FitTask, fitTasks, readyTasks, type Unfitted } from "../../pruning/refit/fit-tasks.js";
import { type LinearLayer, linearLayer, readLinear, writeLinear } from "../../pruning/refit/linear-layers.js";
import { momentsOf, tapMoments } from "../../pruning/refit/moment-taps.js";
import type { NetPair } from "../../pruning/refit/net-pair.js";
import { type LayerFit, refit } from "../../pruning/refit/ridge.js";
import type { Segment } from "../../pruning/refit/segment.js";
import { sparseFit } from "../../pruning/sparsity/sparse-fit.js";
import type { Sparsity } from "../../pruning/sparsity/sparsity.js";
import type { Sums } from "../../runtime/port.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { refuseInterrupted } from "../run-record.js";
import { NetWalk } from "./net-walk.js";
import { isMasked, paddingMask } from "./padding-mask.js";
import { rowStep } from "./row-step.js";
import type { SampleSizes } from "./sample-sizes.js";

/** Samples to fit weights on, and others to choose by. */
export interface FitSamples {
  /** Fitted samples first, then those that only choose. */
  readonly data: DatasetRef;
  readonly fitted: number;
  readonly heldOut: number;
}

export interface RefitRequest {
  readonly pair: NetPair;
  readonly samples: FitSamples;
  readonly sizes: SampleSizes;
  readonly runtime: RuntimeConfig;
  /** Layers of the pruned net that get zeros; absent where none does. */
  readonly sparsities?: ReadonlyMap<Node, Sparsity>;
  /** Layers that are not fitted by then keep their weights; never when absent. */
  readonly isOver?: () => boolean;
  /** Whether more is to be judged by the samples that choose: no weight is fitted to them then. */
  readonly areOthersKept?: boolean;
  /** Waves of layers that are fitted, from the front; all when absent. */
  readonly mostWaves?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface FittedLayer {
  readonly node: string;
  /** Share of the variance of what it should make that is missed, on samples that were not fitted. */
  readonly before: number;
  readonly after: number;
}

export interface RefitReport {
  readonly fitted: readonly FittedLayer[];
  /** Layers that keep their weights, and why. */
  readonly unfitted: readonly Unfitted[];
  /** Whether some of these are only for want of time. */
  readonly isCutShort?: true;
}

const NO_TIME = "the time that was given (--budget) was over before its turn";

/** What the sums of layers that are held together may take. */
export const MOST_SUM_BYTES = 48 << 20;

/** Of one layer: of fitted samples and others, and once more as the runtime makes them. */
export const sumBytes = ({ groups, inputs, outputs }: LinearLayer): number => groups * inputs * (inputs + outputs) * 20;

/** Changes the weights of the pruned net. */
export async function refitNet(request: RefitRequest, context: RunContext): Promise<RefitReport> {
  return new NetFit(request, context).run();
}

class NetFit {
  readonly #mask: Value | null;
  readonly #walk: NetWalk;
  readonly #fitted: FittedLayer[] = [];
  readonly #unfitted: Unfitted[] = [];

  constructor(
    readonly request: RefitRequest,
    readonly context: RunContext,
  ) {
    const { pair, samples, runtime } = request;
    this.#mask = paddingMask(pair.map.model);
    const { data, heldOut } = samples;
    this.#walk = new NetWalk({ like: pair.map.model, twinOf: pair.twinOf, data, heldOut, runtime }, context);
  }

  async run(): Promise<RefitReport> {
    const { pair, onProgress, isOver, mostWaves = Number.POSITIVE_INFINITY } = this.request;
    const { tasks, unfitted } = fitTasks(pair);
    this.#unfitted.push(...unfitted);
    let waiting = tasks;
    try {
      for (let waves = 0; waiting.length > 0 && waves < mostWaves; waves++) {
        refuseInterrupted(this.context.signal);
        if (isOver?.()) break;
        const wave = withinBound(readyTasks(pair, waiting));
        waiting = waiting.filter((task) => !wave.includes(task));
        await this.#fit(wave, waiting);
        onProgress?.(tasks.length - waiting.length, tasks.length);
      }
    } finally {
      this.#walk.close();
    }
    const isCutShort = waiting.length > 0 && isOver?.() === true;
    if (isCutShort) this.#unfitted.push(...waiting.map(({ name }) => ({ node: name, reason: NO_TIME })));
    return { fitted: this.#fitted, unfitted: this.#unfitted, ...(isCutShort && { isCutShort }) };
  }

  async #fit(wave: readonly FitTask[], left: readonly FitTask[]): Promise<void> {
    const layers = wave.flatMap((task, i) => {
      const layer = linearLayer(task.node);
      if (!("reason" in layer)) return [{ task, layer, label: `layer ${i}` }];
      this.#unfitted.push({ node: task.name, reason: layer.reason });
      return [];
    });
    const tap = (segment: Segment): readonly string[] =>
      layers.flatMap(({ task, layer, label }) => this.#tap(segment, label, task, layer));
    const ahead = left.flatMap(({ node, target, minus }) => [node.inputs[0]!, target, ...(minus ? [minus] : [])]);
    const sums = await this.#walk.step(tap, ahead);
    for (const { task, layer, label } of layers) this.#refit(task, layer, label, sums);
  }

  #tap(segment: Segment, label: string, task: FitTask, layer: LinearLayer): readonly string[] {
    const { sizes, samples } = this.request;
    const { target, keptOutputs, minus } = task;
    return tapMoments(segment.model, label, {
      layer,
      input: segment.value(layer.input),
      target: segment.value(target),
      keptOutputs,
      minus: minus && segment.value(minus),
      mask: maskFor(layer, target, this.#mask, sizes, segment),
      step: rowStep(sizes.get(target.label) ?? null, layer, samples.fitted),
    });
  }

  #refit({ name }: FitTask, layer: LinearLayer, label: string, { fitted, heldOut }: Sums): void {
    const others = momentsOf(layer, label, heldOut);
    const { pair, sparsities, areOthersKept } = this.request;
    const sparsity = sparsities?.get(layer.node);
    const [moments, start] = [momentsOf(layer, label, fitted), readLinear(layer)];
    const result: LayerFit = sparsity
      ? sparseFit(layer, sparsity, moments, others, start)
      : refit(moments, others, start, areOthersKept);
    if (result.linear) writeLinear(pair.sliced.model, layer, result.linear);
    if ("reason" in result) {
      this.#unfitted.push({ node: name, reason: result.reason });
      return;
    }
    const { before, after } = result;
    this.#fitted.push({ node: name, before, after });
  }
}

/** Null where no rows are padding. */
export function maskFor(
  { node }: LinearLayer,
  target: Value,
  mask: Value | null,
  sizes: SampleSizes,
  segment: Segment,
): Value | null {
  return node.op === "MatMul" && mask && isMasked(target, mask, sizes) ? segment.value(mask) : null;
}

/** The first layers whose sums are held together, one at least. */
function withinBound(ready: readonly FitTask[]): readonly FitTask[] {
  let bytes = 0;
  return ready.filter(({ node }, i) => {
    const layer = linearLayer(node);
    if (!("reason" in layer)) bytes += sumBytes(layer);
    return i === 0 || bytes <= MOST_SUM_BYTES;
  });
}
