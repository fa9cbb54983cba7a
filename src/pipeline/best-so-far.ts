/** The fastest file so far that meets the limits, beside the output for as long as the search goes on. */
import { rmSync } from "node:fs";
import { loadModel, saveModel } from "../ir/index.js";
import type { Candidate } from "./candidate.js";

export class BestSoFar {
  #best: Candidate | null = null;
  readonly path: string;

  /** @param output where the result of the run will be */
  constructor(output: string) {
    this.path = `${output.replace(/\.onnx$/i, "")}.best.onnx`;
  }

  get exists(): boolean {
    return this.#best !== null;
  }

  /** Of a candidate that was found to meet the limits: on disk when it is the fastest of them. */
  offer(candidate: Candidate): void {
    if (this.#best && (candidate.speedup ?? 0) <= (this.#best.speedup ?? 0)) return;
    saveModel(loadModel(candidate.built.path), this.path).commit();
    this.#best = candidate;
  }

  /** The search is over: the output takes its place. */
  remove(): void {
    if (this.#best) rmSync(this.path, { force: true });
    this.#best = null;
  }
}
