/**
 * Fits the layers of a pruned net one after the other, each to what it made in the original, on inputs from the pruned net
 * as it is by then. What has been computed of both nets is kept for every sample, so that each node runs once per sample,
 * however deep the net; the sums of one wave of layers are held at a time.
 */
import { rmSync } from "node:fs";
import type { DatasetRef } from "../../dataset/index.js";
import { linkModel, type Value } from "../../ir/index.js";
import { type FitTask, fitTasks, readyTasks, type Unfitted } from "../../pruning/refit/fit-tasks.js";
import { type LinearLayer, linearLayer, readLinear, writeLinear } from "../../pruning/refit/linear-layers.js";
import { momentsOf, tapMoments } from "../../pruning/refit/moment-taps.js";
import { outputVariance } from "../../pruning/refit/moments.js";
import type { NetPair } from "../../pruning/refit/net-pair.js";
import { refit } from "../../pruning/refit/ridge.js";
import { Segment } from "../../pruning/refit/segment.js";
import { valuesRead } from "../../rewrite/index.js";
import type { Sums } from "../../runtime/port.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asDelivered, linkedFile, removeLinked, samplesFile } from "../model-runs.js";
import { isMasked, paddingMask } from "./padding-mask.js";
import { rowStep } from "./row-step.js";
import type { SampleSizes } from "./sample-sizes.js";

export interface RefitRequest {
  readonly pair: NetPair;
  /** Fitted samples first, then those that only choose. */
  readonly data: DatasetRef;
  readonly fitted: number;
  readonly heldOut: number;
  readonly sizes: SampleSizes;
  readonly runtime: RuntimeConfig;
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
}

/** What the sums of layers that are fitted together may take. */
const MOST_BYTES = 128 << 20;

/** Changes the weights of the pruned net. */
export async function refitNet(request: RefitRequest, context: RunContext): Promise<RefitReport> {
  return new NetFit(request, context).run();
}

class NetFit {
  readonly #mask: Value | null;
  /** Files of values that every sample is kept of. */
  readonly #known = new Map<Value, string>();
  readonly #fitted: FittedLayer[] = [];
  readonly #unfitted: Unfitted[] = [];

  constructor(
    readonly request: RefitRequest,
    readonly context: RunContext,
  ) {
    this.#mask = paddingMask(request.pair.map.model);
  }

  async run(): Promise<RefitReport> {
    const { pair, onProgress } = this.request;
    const { tasks, unfitted } = fitTasks(pair);
    this.#unfitted.push(...unfitted);
    let waiting = tasks;
    try {
      while (waiting.length > 0) {
        this.context.signal.throwIfAborted();
        const wave = withinBound(readyTasks(pair, waiting));
        const left = waiting.filter((task) => !wave.includes(task));
        await this.#fit(wave, left);
        waiting = left;
        onProgress?.(tasks.length - left.length, tasks.length);
      }
    } finally {
      for (const path of this.#known.values()) removeKept(path);
    }
    return { fitted: this.#fitted, unfitted: this.#unfitted };
  }

  async #fit(wave: readonly FitTask[], left: readonly FitTask[]): Promise<void> {
    const { pair } = this.request;
    const segment = new Segment(pair.map.model, (value) => this.#known.has(value), pair.twinOf);
    const layers = new Map<FitTask, LinearLayer>();
    const sums: string[] = [];
    wave.forEach((task, i) => {
      const layer = linearLayer(task.node);
      if ("reason" in layer) {
        this.#unfitted.push({ node: task.name, reason: layer.reason });
        return;
      }
      layers.set(task, layer);
      sums.push(...this.#tap(segment, `layer ${i}`, task, layer));
    });
    const cut = this.#cut(segment, left);
    const reached = await this.#advance(segment, cut, sums);
    wave.forEach((task, i) => {
      const layer = layers.get(task);
      if (layer) this.#refit(task, layer, `layer ${i}`, reached);
    });
    this.#forget(cut);
  }

  #tap(segment: Segment, label: string, task: FitTask, layer: LinearLayer): readonly string[] {
    const { sizes, pair, fitted } = this.request;
    const { target, keptOutputs, minus } = task;
    const isMatrix = layer.node.op === "MatMul";
    const mask = isMatrix && this.#mask && isMasked(target, this.#mask, sizes) ? segment.value(this.#mask) : null;
    return tapMoments(segment.model, label, {
      layer,
      input: segment.value(pair.twinOf(layer.input)),
      target: segment.value(target),
      keptOutputs,
      minus: minus && segment.value(minus),
      mask,
      step: rowStep(sizes.get(target.label) ?? null, layer, fitted),
    });
  }

  /** The values at hand from which the taps of the layers that are left can be computed. */
  #cut(segment: Segment, left: readonly FitTask[]): ReadonlySet<Value> {
    const { twinOf } = this.request.pair;
    const cut = new Set<Value>();
    const seen = new Set<Value>();
    const pending = left.flatMap(({ node, target, minus }) => [node.inputs[0]!, target, ...(minus ? [minus] : [])]);
    for (let next = pending.pop(); next; next = pending.pop()) {
      const value = twinOf(next);
      if (seen.has(value)) continue;
      seen.add(value);
      const { producer } = value;
      if (!producer) continue;
      if (this.#known.has(value) || segment.has(value)) cut.add(value);
      else pending.push(...valuesRead(producer));
    }
    return cut;
  }

  async #advance(segment: Segment, cut: ReadonlySet<Value>, sums: readonly string[]): Promise<Sums> {
    const { data, heldOut, runtime } = this.request;
    const kept = new Map<string, string>();
    for (const value of cut) {
      if (this.#known.has(value)) continue;
      const name = `kept/${kept.size}`;
      const path = samplesFile(this.context);
      segment.model.graph.addOutput(name, segment.value(value));
      kept.set(name, path);
      this.#known.set(value, path);
    }
    const known = new Map([...segment.read].map(([value, name]) => [name, this.#known.get(value)!]));
    const path = linkedFile(this.context, "part");
    linkModel(segment.model, path);
    try {
      const session = asDelivered(runtime);
      return await this.context.runtime.advance({ model: path, data, known, kept, sums, heldOut, session });
    } finally {
      removeLinked(path);
    }
  }

  #refit({ name }: FitTask, layer: LinearLayer, label: string, { fitted, heldOut }: Sums): void {
    const others = momentsOf(layer, label, heldOut);
    const result = refit(momentsOf(layer, label, fitted), others, readLinear(layer));
    if ("reason" in result) {
      this.#unfitted.push({ node: name, reason: result.reason });
      return;
    }
    writeLinear(this.request.pair.sliced.model, layer, result.linear);
    const variance = outputVariance(others);
    const share = (error: number): number => (variance > 0 ? error / variance : 0);
    this.#fitted.push({ node: name, before: share(result.before), after: share(result.after) });
  }

  #forget(cut: ReadonlySet<Value>): void {
    for (const [value, path] of this.#known) {
      if (cut.has(value)) continue;
      removeKept(path);
      this.#known.delete(value);
    }
  }
}

function removeKept(path: string): void {
  rmSync(path, { force: true });
  rmSync(`${path}.json`, { force: true });
}

/** The first layers whose sums are held together, one at least. */
function withinBound(ready: readonly FitTask[]): readonly FitTask[] {
  let bytes = 0;
  return ready.filter(({ node }, i) => {
    const layer = linearLayer(node);
    // Twice, of fitted samples and others, and once more as the runtime makes them.
    if (!("reason" in layer)) bytes += layer.groups * layer.inputs * (layer.inputs + layer.outputs) * 20;
    return i === 0 || bytes <= MOST_BYTES;
  });
}
