/** Narrower nets, made, judged and timed; what an earlier run has found out of them is not found out again. */
import { copyFileSync, existsSync, renameSync } from "node:fs";
import type { ProcessSeries } from "../../bench/index.js";
import type { PathStep } from "../../pruning/choose/narrowing-path.js";
import type { Widths } from "../../pruning/choose/widths.js";
import { sha256Of } from "../model-facts.js";
import { scratchFile } from "../model-runs.js";
import type { NotRecovered, Recovery } from "../recover/recover-weights.js";
import type { Offered } from "../resume/best-so-far.js";
import type { RunRecord } from "../run-record.js";
import type { LatencyMeasure } from "../verdict/verdict.js";
import type { Measured, PrunedJudge } from "./judge-pruned.js";
import type { PruneMemory } from "./prune-memory.js";
import { cutFile, type PrunedFile, type PruningKnown, prunedFile, removePruned } from "./pruned-file.js";
import { recoverPruned } from "./recover-pruned.js";

export interface Tried {
  readonly name: string;
  readonly widths: Widths;
  readonly file: PrunedFile;
  readonly measured: Measured;
  /** What came of learning; null where it was not asked for. */
  readonly recovery: Recovery | NotRecovered | null;
  /** What it took to make it and to judge it. */
  readonly spentMs: number;
}

export class NetTrials {
  /** One of each widths, as good as it became. */
  readonly tried: Tried[] = [];
  /** Times of races that decided: a net that learns is the same graph afterwards, and takes as long. */
  readonly #times = new Map<LatencyMeasure, readonly ProcessSeries[]>();

  constructor(
    readonly known: PruningKnown,
    readonly judge: PrunedJudge,
    readonly record: RunRecord,
    readonly memory: PruneMemory,
  ) {}

  find(widths: Widths): Tried | null {
    return this.tried.find((each) => isSame(widths, each.widths)) ?? null;
  }

  /** The net that is left of these widths, fitted and judged. */
  async fit(widths: Widths, name: string): Promise<Tried> {
    const tried = await this.#once(this.#keyOf(widths), { widths, name }, () => this.#fitted(widths, name));
    this.tried.push(tried);
    return tried;
  }

  /** The same net after it has learned, unless it is less accurate than before; it takes the other's place. */
  async learn(fitted: Tried): Promise<Tried> {
    if (fitted.recovery) return fitted;
    const tried = await this.#once(this.#learnedKeyOf(fitted.widths), fitted, async () => {
      await this.#restore(fitted);
      return this.#learned(fitted);
    });
    const { latency } = fitted.measured;
    tried.measured.latency ??= latency;
    this.tried.splice(this.tried.indexOf(fitted), 1, tried);
    return tried;
  }

  /** How fast a net is that is cut and not fitted: as fast as it will be. */
  async speedOf(step: PathStep, name: string, wanted: number): Promise<LatencyMeasure> {
    const { known, record, judge, memory } = this;
    const key = `${this.#keyOf(step.widths)}, not fitted`;
    const before = memory.race(key);
    if (before) return before;
    const file = cutFile(known, step.widths, record.context);
    try {
      const { latency } = await judge.race(file, `${name}, not fitted`, wanted);
      memory.keepRace(key, latency);
      return latency;
    } finally {
      removePruned(file);
    }
  }

  /** @param aim see PrunedJudge.race */
  async race(tried: Tried, aim: number | null): Promise<LatencyMeasure> {
    const { file, name, measured } = tried;
    const { memory, judge } = this;
    const key = `${this.#keyOfNet(tried)}${aim === null ? "" : ", at a glance"}`;
    const before = memory.race(key);
    if (!before) await this.#restore(tried);
    const latency = before ?? (await this.#timed(tried, aim));
    measured.latency = latency;
    if (!before) memory.keepRace(key, latency);
    const { speedup } = latency.facts;
    judge.tell(name, speedup, measured.accuracy.facts);
    if (judge.rule(file, measured).verdict.outcome === "met") this.#offer({ speedup, built: file });
    return latency;
  }

  /** Everything that is to be known of a net that is delivered. */
  async complete(tried: Tried): Promise<void> {
    const { file, name, measured } = tried;
    const wasTimed = measured.latency !== null;
    await this.#restore(tried);
    // Other bytes than those that were raced: their speed is not known yet.
    if (wasTimed && measured.latency === null) {
      measured.latency = await this.#timed(tried, null);
      this.memory.keepRace(this.#keyOfNet(tried), measured.latency);
    }
    measured.differences ??= await this.judge.compare(file, name);
  }

  async #timed({ file, name, measured }: Tried, aim: number | null): Promise<LatencyMeasure> {
    const earlier = measured.latency ? this.#times.get(measured.latency) : undefined;
    const { latency, series } = await this.judge.race(file, name, aim, earlier);
    // Nets are chosen by what glances say, the lucky ones first: those are no part of what decides.
    if (aim === null) this.#times.set(latency, series);
    return latency;
  }

  /** A net that an earlier run has tried is not made again before its file is needed. */
  async #once(
    key: string,
    { widths, name }: Pick<Tried, "widths" | "name">,
    make: () => Promise<Omit<Tried, "spentMs">>,
  ): Promise<Tried> {
    const { memory, record, judge } = this;
    const known = memory.tried(key);
    let tried: Tried;
    if (known) {
      const { accuracy, nonsense, recovery, report, bytes, spentMs } = known;
      const measured = { accuracy, nonsense, differences: null, latency: null };
      const file = { path: scratchFile(record.context, "pruned"), bytes, report };
      tried = { name, widths, file, measured, recovery, spentMs };
    } else {
      const from = record.elapsedMs;
      const made = await make();
      const { accuracy, nonsense } = made.measured;
      const { path, bytes, report } = made.file;
      const { recovery } = made;
      const spentMs = record.elapsedMs - from;
      // A run that goes on may have more time.
      if (!report?.isCutShort)
        memory.keepTried(key, { bytes, sha256: await sha256Of(path), report, recovery, accuracy, nonsense, spentMs });
      tried = { ...made, spentMs };
    }
    judge.tell(name, null, tried.measured.accuracy.facts);
    return tried;
  }

  async #fitted(widths: Widths, name: string): Promise<Omit<Tried, "spentMs">> {
    const { known, record, judge } = this;
    const file = await record.stage("prune", () => prunedFile(known, widths, record.context, record.progress), name);
    const measured = await judge.measureAccuracy(file, name);
    return { name, widths, file, measured, recovery: null };
  }

  async #learned(fitted: Omit<Tried, "spentMs">): Promise<Omit<Tried, "spentMs">> {
    const { known, record, judge } = this;
    const { name, file, widths } = fitted;
    const { leftMs } = judge;
    if (leftMs !== null && leftMs <= 0) return { ...fitted, recovery: { reason: "no time was left to learn" } };
    const { outcome, file: learned } = await record.stage(
      "recover",
      () => recoverPruned(known, widths, () => judge.leftMs, record),
      name,
    );
    if (!learned) return { ...fitted, recovery: outcome };
    const measured = await judge.measureAccuracy(learned, `${name}, recovered`);
    const now = measured.accuracy.facts;
    const isWorse = isMoreAccurate(fitted, { measured });
    removePruned(isWorse ? learned : file);
    return isWorse
      ? { ...fitted, recovery: { reason: `what it learned made it worse: ${now.metric} ${now.candidate.toFixed(4)}` } }
      : { ...fitted, file: learned, measured, recovery: outcome };
  }

  /** Brings back the file of a net that an earlier run has tried: the same bytes. */
  async #restore(tried: Tried): Promise<void> {
    const { file, widths, name, measured, recovery } = tried;
    if (existsSync(file.path)) return;
    const { memory } = this;
    const wanted = memory.tried(this.#keyOfNet(tried))?.sha256;
    const best = memory.files?.best;
    if (best?.exists && (await sha256Of(best.path)) === wanted) {
      copyFileSync(best.path, file.path);
      return;
    }
    const fitted = await this.#fitted(widths, name);
    const again = recovery ? await this.#learned(fitted) : fitted;
    renameSync(again.file.path, file.path);
    // What was measured of other bytes says nothing of these.
    if ((await sha256Of(file.path)) !== wanted) Object.assign(measured, again.measured);
  }

  #keyOf(widths: Widths): string {
    return this.known.map.groups.flatMap((group) => widths.get(group) ?? []).join(",");
  }

  #learnedKeyOf(widths: Widths): string {
    return `${this.#keyOf(widths)}, learned`;
  }

  #keyOfNet({ widths, recovery }: Tried): string {
    return recovery ? this.#learnedKeyOf(widths) : this.#keyOf(widths);
  }

  #offer(met: Offered): void {
    const best = this.memory.files?.best;
    if (existsSync(met.built.path)) best?.offer(met);
    else best?.recall(met);
  }
}

export const isSame = (a: Widths, b: Widths): boolean => [...a].every(([group, width]) => b.get(group) === width);

export function isMoreAccurate(a: Pick<Tried, "measured">, b: Pick<Tried, "measured">): boolean {
  const [own, other] = [a.measured.accuracy.facts, b.measured.accuracy.facts];
  return own.higherIsBetter ? own.candidate > other.candidate : own.candidate < other.candidate;
}
