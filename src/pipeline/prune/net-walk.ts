/**
 * A walk through nets, front to back, part by part: what has been computed is kept for every sample in files for as long as
 * something ahead needs it, so that each node runs once per sample, however deep the net.
 */
import { rmSync } from "node:fs";
import type { DatasetRef } from "../../dataset/index.js";
import { linkModel, type Model, type Value } from "../../ir/index.js";
import { Segment } from "../../pruning/refit/segment.js";
import { valuesRead } from "../../rewrite/index.js";
import type { Sums } from "../../runtime/port.js";
import type { RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";
import { asDelivered, linkedFile, removeLinked, samplesFile } from "../model-runs.js";

export interface WalkRequest {
  /** Whose opsets and functions parts have. */
  readonly like: Model;
  /** See Segment. */
  readonly twinOf: (value: Value) => Value;
  /** Samples that are fitted first, then those that only choose. */
  readonly data: DatasetRef;
  readonly heldOut: number;
  readonly runtime: RuntimeConfig;
}

export class NetWalk {
  /** Files of values that every sample is kept of. */
  readonly #known = new Map<Value, string>();

  constructor(
    readonly request: WalkRequest,
    readonly context: RunContext,
  ) {}

  /**
   * Computes one more part.
   * @param tap adds outputs to it, and answers those that are summed over samples
   * @param ahead values that later parts will ask for
   */
  async step(tap: (segment: Segment) => readonly string[], ahead: readonly Value[]): Promise<Sums> {
    const { like, twinOf, data, heldOut, runtime } = this.request;
    const segment = new Segment(like, (value) => this.#known.has(value), twinOf);
    const sums = tap(segment);
    const cut = this.#cut(segment, ahead);
    const kept = new Map<string, string>();
    const known = new Map([...segment.read].map(([value, name]) => [name, this.#known.get(value)!]));
    for (const value of cut) {
      if (this.#known.has(value)) continue;
      const name = `kept/${kept.size}`;
      const file = samplesFile(this.context);
      segment.model.graph.addOutput(name, segment.value(value));
      kept.set(name, file);
      this.#known.set(value, file);
    }
    const path = linkedFile(this.context, "part");
    linkModel(segment.model, path);
    try {
      const session = asDelivered(runtime);
      return await this.context.runtime.advance({ model: path, data, known, kept, sums, heldOut, session });
    } finally {
      removeLinked(path);
      for (const [value, file] of this.#known) if (!cut.has(value)) this.#forget(value, file);
    }
  }

  close(): void {
    for (const [value, file] of this.#known) this.#forget(value, file);
  }

  /** The values at hand from which what lies ahead can be computed. */
  #cut(segment: Segment, ahead: readonly Value[]): ReadonlySet<Value> {
    const cut = new Set<Value>();
    const seen = new Set<Value>();
    const pending = [...ahead];
    for (let next = pending.pop(); next; next = pending.pop()) {
      const value = this.request.twinOf(next);
      if (seen.has(value)) continue;
      seen.add(value);
      const { producer } = value;
      if (!producer) continue;
      if (this.#known.has(value) || segment.has(value)) cut.add(value);
      else pending.push(...valuesRead(producer));
    }
    return cut;
  }

  #forget(value: Value, file: string): void {
    rmSync(file, { force: true });
    rmSync(`${file}.json`, { force: true });
    this.#known.delete(value);
  }
}
