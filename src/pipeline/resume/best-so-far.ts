/** The best file so far that meets the limits on accuracy and size, beside the output for as long as the search goes on. */
import { existsSync, rmSync } from "node:fs";
import { InferOptError } from "../../base/errors.js";
import { loadModel, saveModel } from "../../ir/index.js";
import type { Journal } from "../journal.js";

const MARK = "best file";

/** What there is to know of a file that meets them. */
export interface Offered {
  readonly speedup: number | null;
  readonly built: { readonly path: string; readonly bytes: number };
}

export class BestSoFar {
  #best: Offered | null = null;
  readonly path: string;
  /** What lies there and is not ours may be anybody's, the model that is read among them: it stays. */
  readonly isTaken: boolean;

  /**
   * @param output where the result of the run will be
   * @param journal knows whether an earlier run of this search has left its file there
   * @param warn told why a file is not kept
   */
  constructor(
    output: string,
    readonly journal: Pick<Journal, "mark" | "isMarked">,
    readonly goal: "speed" | "size" = "speed",
    readonly warn: (warning: string) => void = () => undefined,
  ) {
    this.path = `${output.replace(/\.onnx$/i, "")}.best.onnx`;
    this.isTaken = !journal.isMarked(MARK) && existsSync(this.path);
  }

  /** One of an earlier run counts. */
  get exists(): boolean {
    return this.journal.isMarked(MARK) && existsSync(this.path);
  }

  /** Of a candidate that was found to meet them: on disk when it is the fastest of them, or the smallest. */
  offer(candidate: Offered): void {
    if (this.isTaken || (this.#best && this.#merit(candidate) <= this.#merit(this.#best))) return;
    this.journal.mark(MARK);
    try {
      saveModel(loadModel(candidate.built.path), this.path).commit();
    } catch (thrown) {
      // A search that keeps nothing meanwhile is still a search, and there may be room for its result.
      if (!(thrown instanceof InferOptError) || thrown.code !== "OUTPUT_FAILED") throw thrown;
      this.warn(`the best file so far is not kept: ${thrown.message}`);
      return;
    }
    this.#best = candidate;
  }

  /** Of one that an earlier run of this search has offered: its file need not be there. */
  recall(candidate: Offered): void {
    if (!this.#best || this.#merit(candidate) > this.#merit(this.#best)) this.#best = candidate;
  }

  /** The search is over: the output takes its place. */
  remove(): void {
    if (this.journal.isMarked(MARK)) rmSync(this.path, { force: true });
    this.#best = null;
  }

  #merit({ speedup, built }: Offered): number {
    return this.goal === "size" ? -built.bytes : (speedup ?? 0);
  }
}
