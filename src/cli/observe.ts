/** Picks, once, how a run shows what it is doing: bars on a terminal, lines elsewhere, or nothing. Always on stderr. */
import type { Observer } from "../pipeline/events.js";
import type { Settings } from "./flags.js";
import type { Io } from "./io.js";
import { lines } from "./observe-lines.js";

export interface Watch {
  readonly observer: Observer;
  /** Takes timers and bars away. */
  stop(): void;
}

const silence: Watch = { observer: () => {}, stop: () => {} };

export async function watchRun(
  io: Io,
  { quiet, json }: Pick<Settings, "quiet" | "json">,
  now: () => number,
): Promise<Watch> {
  if (quiet) return silence;
  const live = io.isTTY.stderr && !json && !io.env["CI"] && io.env["TERM"] !== "dumb";
  if (!live) return lines(io.stderr, now);
  const { bars } = await import("./observe-bars.js");
  return bars(io.stderr, now);
}
