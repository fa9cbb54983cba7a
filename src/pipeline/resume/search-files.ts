/** What outlives a search that is cut short: a journal of its measurements and the best file so far, both beside the output. */
import { InferOptError } from "../../base/errors.js";
import { isDiskFull } from "../../onnx/index.js";
import { isSearched, type OptimizeConfig } from "../config.js";
import type { Intake } from "../intake.js";
import { Journal } from "../journal.js";
import type { RunRecord } from "../run-record.js";
import { BestSoFar } from "./best-so-far.js";
import { searchIdentity } from "./search-identity.js";

/** A run that is part of another one, which tells what came of it and keeps the files of all its parts. */
export interface PartOf {
  readonly record: RunRecord;
  readonly files: (intake: Intake) => SearchFiles | null;
}

export class SearchFiles {
  private constructor(
    readonly journal: Journal,
    readonly best: BestSoFar,
  ) {}

  /** Null where no file is written, or no limit given to search for. */
  static forRun(config: OptimizeConfig, intake: Intake, record: RunRecord): SearchFiles | null {
    if (!isSearched(config)) return null;
    const identity = searchIdentity(record.command, config, intake, record.context);
    return SearchFiles.beside(config.out.output, identity, config.quantize.goal, record);
  }

  /**
   * @param identity see Journal
   * Null where no file is written.
   */
  static beside(
    output: string | null,
    identity: string,
    goal: "speed" | "size",
    record: Pick<RunRecord, "warn">,
  ): SearchFiles | null {
    if (output === null) return null;
    const warn = (warning: string): void => record.warn(warning);
    const journal = new Journal(`${output}.journal.jsonl`, identity, warn);
    const { path, size } = journal;
    if (size > 0) warn(`goes on with what an interrupted run measured, times among it: ${size} entries of ${path}`);
    const best = new BestSoFar(output, journal, goal, warn);
    if (best.isTaken) record.warn(`${best.path} is there already and stays: the best file so far is not kept`);
    return new SearchFiles(journal, best);
  }

  /** The search is over, one way or the other. */
  remove(): void {
    this.best.remove();
    this.journal.remove();
  }

  /** Of a search that failed: what to throw. What was measured is kept for the next run, unless that will be asked something else. */
  failed(thrown: unknown, { aborted }: AbortSignal): unknown {
    if (aborted) return this.interrupted(thrown);
    if (!(thrown instanceof InferOptError)) return thrown;
    // Once there is room, or another place is named, the same is asked again; and of a runtime that failed by chance at once.
    if (thrown.code === "OUTPUT_FAILED" || thrown.kind === "runtime") return this.#resumable(thrown);
    if (thrown.kind === "usage" || thrown.kind === "input") this.remove();
    return thrown;
  }

  /** Writes what a search found. The best file so far takes as much room, and gives way where there is none for both. */
  async write<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (thrown) {
      if (!isDiskFull(thrown) || !this.best.exists) throw thrown;
      this.best.remove();
      return write();
    }
  }

  #resumable(thrown: InferOptError): InferOptError {
    if (this.journal.size === 0) return thrown;
    const { code, kind, message, hint, fields, cause } = thrown;
    const onward = `${this.journal.path} holds what was measured, and the same command goes on with it.`;
    const told = [hint, this.#bestText, onward].filter((text) => text).join(" ");
    return new InferOptError(code, kind, message, { hint: told, fields, cause });
  }

  /** Empty where there is none. */
  get #bestText(): string {
    const { exists, path } = this.best;
    return exists ? `The best file so far that meets the limits on accuracy and size is ${path}.` : "";
  }

  /** INTERRUPTED with word of what is on disk, or the cause itself where nothing is. */
  interrupted(cause: unknown): unknown {
    const { journal, best } = this;
    if (journal.size === 0) return cause;
    const left = this.#bestText && `${this.#bestText} `;
    return new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted", {
      hint: `${left}Run the same command again to go on where it was: ${journal.path} holds what was measured.`,
      cause,
      fields: { best: best.exists ? best.path : null, journal: journal.path },
    });
  }
}
