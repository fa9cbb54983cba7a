/** One command worth trying after this result. */
import type { RunResult } from "../pipeline/result.js";

export interface Suggestion {
  /** Can be pasted. */
  readonly command: string;
  readonly why: string;
}

/**
 * `commandLine` is the command that gave the result, as typed; without it only
 * suggestions that stand alone are made.
 */
export function suggest(result: RunResult, commandLine: string | null): Suggestion | null {
  const { model, output, quantization, latency, command } = result;
  const path = shellWord(model.path);
  const again = (flag: string, why: string): Suggestion | null =>
    commandLine === null ? null : { command: `${commandLine} ${flag}`, why };
  const makesCandidates = command === "quantize" || command === "optimize";
  switch (result.verdict.outcome) {
    case "met":
      if (output && quantization && quantization.float.length > 0) {
        return { command: `infer-opt explain ${path}`, why: "why nodes stay float and passes decline" };
      }
      if (output && !latency) {
        return { command: `infer-opt bench ${path} ${shellWord(output.path)}`, why: "is it faster?" };
      }
      return null;
    case "accuracy":
      return makesCandidates ? again("--keep-rejected", "keeps the refused file, to look at") : null;
    case "latency":
      return { command: `infer-opt inspect ${path}`, why: "what the model is made of" };
    case "no-gain":
      return makesCandidates ? again("--goal size", "if a smaller file is worth having all the same") : null;
    case "inconclusive":
      return again("--budget 5m", "measures longer; an idle machine helps too");
  }
}

/** As a POSIX shell takes it literally. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
