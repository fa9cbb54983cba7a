/** `--threads` beyond the processors that there are, for all commands that run models. */
import { InferOptError } from "../base/errors.js";

/**
 * Threads for each processor: with more, none of what a command is for comes of it, only waiting. Fewer may be meant, to see how
 * a model does where others compete, or as in a config file that is also used elsewhere.
 */
const MOST_EACH = 16;

/** In words, of the most that are asked for; null where each has a processor. Throws FLAG_INVALID where they are plainly a mistake. */
export function beyondProcessors(threads: readonly number[], processors: number): string | null {
  const most = Math.max(...threads);
  if (most <= processors) return null;
  const there = processors === 1 ? "one processor" : `${processors} processors`;
  if (most > MOST_EACH * processors) {
    throw new InferOptError("FLAG_INVALID", "usage", `--threads ${most}: this machine has ${there}`, {
      hint: `Leave it out, for a thread on each; up to ${MOST_EACH * processors} are taken.`,
      fields: { flag: "--threads", value: String(most) },
    });
  }
  return `--threads ${most} on ${there}: they take turns, which is slower and makes times uneven`;
}
