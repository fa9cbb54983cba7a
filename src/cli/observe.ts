/** Picks, once, how a run shows what it is doing: drawn where somebody watches, as lines elsewhere, or not at all. Always on stderr. */
import type { Observer } from "../pipeline/events.js";
import type { Settings } from "./flags.js";
import type { Io } from "./io.js";
import { lines } from "./observe-lines.js";

export interface Watch {
  readonly observer: Observer;
  /** Takes timers and what is drawn away. */
  stop(): void;
}

const silence: Watch = { observer: () => {}, stop: () => {} };

export function watchRun(io: Io, { quiet, json }: Pick<Settings, "quiet" | "json">, now: () => number): Watch {
  if (quiet) return silence;
  return json || !io.watch ? lines(io.stderr, now) : io.watch();
}
