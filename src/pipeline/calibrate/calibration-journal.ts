/**
 * What an interrupted calibration had seen, kept beside the output until it is complete: the
 * next identical command goes on from there. Statistics are of whole numbers and extremes, so
 * where a run was cut does not show in the result.
 */
import { readFileSync, rmSync } from "node:fs";
import { InferOptError } from "../../base/errors.js";
import { replaceFile } from "../../base/replace-file.js";
import { type TapJson, type TapStatistics, tapFromJson, tapToJson } from "../../observe/index.js";
import { outputFailed, refuseSpecialFile } from "../../onnx/index.js";
import { digestOf, IN_THE_WAY } from "../journal.js";

export interface JournalState {
  /** Samples seen, the first of the run's. */
  readonly done: number;
  readonly taps: ReadonlyMap<string, TapStatistics>;
}

/** Why a journal that lies there is of no use. */
export type Stale = "none" | "foreign" | "unreadable";

export class CalibrationJournal {
  readonly path: string;

  /** `identity` holds all that the statistics depend on: model, recipe, samples in their order. */
  constructor(
    output: string,
    readonly identity: string,
  ) {
    this.path = `${output}.partial`;
  }

  /** Throws OUTPUT_FAILED where something else than a file lies in its place. */
  read(): JournalState | Stale {
    refuseSpecialFile(this.path, this.path, IN_THE_WAY);
    let text: string;
    try {
      text = readFileSync(this.path, "utf8");
    } catch (cause) {
      return (cause as { code?: string }).code === "ENOENT" ? "none" : "unreadable";
    }
    try {
      const json = JSON.parse(text) as { identity?: unknown; done?: unknown; taps?: unknown; sum?: unknown } | null;
      if (json?.identity !== this.identity) return "foreign";
      if (!Array.isArray(json.taps) || !Number.isInteger(json.done)) return "unreadable";
      // Fewer tensors or samples than were seen would make ranges that look as good as any.
      if (json.sum !== digestOf([json.done, json.taps])) return "unreadable";
      const taps = json.taps.map((tap) => tapFromJson(tap));
      return { done: json.done as number, taps: new Map(taps.map((tap) => [tap.name, tap])) };
    } catch (thrown) {
      if (thrown instanceof SyntaxError || thrown instanceof InferOptError) return "unreadable";
      throw thrown;
    }
  }

  /** Replaces what is there in one step: whenever the run ends, a whole journal lies on disk. */
  write({ done, taps }: JournalState): void {
    const told: TapJson[] = [...taps.values()].map(tapToJson);
    const json = { identity: this.identity, done, taps: told, sum: digestOf([done, told]) };
    try {
      replaceFile(this.path, JSON.stringify(json));
    } catch (cause) {
      throw outputFailed(this.path, cause);
    }
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}
