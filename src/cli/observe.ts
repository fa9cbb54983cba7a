/** Picks, once, how a run shows what it is doing: drawn on a terminal, as lines elsewhere, or not at all. Always on stderr. */
import type { Observer } from "../pipeline/events.js";
import type { Settings } from "./flags.js";
import { drawsUnicode, type Io, wantsColor } from "./io.js";
import { lines } from "./observe-lines.js";

export interface Watch {
  readonly observer: Observer;
  /** Takes timers and what is drawn away. */
  stop(): void;
}

const silence: Watch = { observer: () => {}, stop: () => {} };

export async function watchRun(
  io: Io,
  { quiet, json }: Pick<Settings, "quiet" | "json">,
  now: () => number,
  signal: AbortSignal | null = null,
): Promise<Watch> {
  if (quiet) return silence;
  const live = io.isTTY.stderr && !json && !io.env["CI"] && io.env["TERM"] !== "dumb";
  if (!live) return lines(io.stderr, now);
  const [{ watchLive }, { look }] = await Promise.all([import("../tui/live/watch-live.js"), import("../tui/look.js")]);
  const watch = watchLive(io.stderr, now, look(wantsColor(io, "stderr"), drawsUnicode(io.env)));
  signal?.addEventListener("abort", watch.interrupted, { once: true });
  return {
    observer: watch.observer,
    stop() {
      signal?.removeEventListener("abort", watch.interrupted);
      watch.stop();
    },
  };
}
