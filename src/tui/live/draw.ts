/** The lines below a run that goes on: stage, progress and time left, timing and noise, the best candidate so far. */

import { printable } from "../../report/escape.js";
import { milliseconds, ratio, score } from "../../report/numbers.js";
import { clip, padRight } from "../cells.js";
import type { Look } from "../look.js";
import { bar } from "../plot.js";
import { type LiveStage, type LiveView, remainingMs } from "./fold.js";

const TITLE = 10;
const WIDEST_BAR = 30;
/** Of a bar that says anything. */
const LEAST_BAR = 8;

/** At most `rows` lines, each narrower than `columns`: the last column stays free, so that nothing wraps. */
export function drawLive(
  { current, best, candidates }: LiveView,
  nowMs: number,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  look: Look,
): string[] {
  if (!current) return [];
  const lines = [stageLine(current, nowMs, columns - 2, look)];
  if (current.timing) lines.push(`${padRight("timing", TITLE)} ${timingText(current.timing, columns - TITLE - 3)}`);
  if (best) {
    const parts = [
      ...(best.speedup === null ? [] : [ratio(best.speedup)]),
      ...(best.accuracy === null ? [] : [`accuracy ${score(best.accuracy)}`]),
      printable(best.candidate),
      ...(candidates.size > 1 ? [`(of ${candidates.size})`] : []),
    ];
    lines.push(`${padRight("best", TITLE)} ${parts.join("  ")}`);
  }
  return lines.slice(0, Math.max(0, rows)).map((line) => clip(` ${line}`, columns - 1));
}

function timingText({ baselineMs, speedup, spread }: NonNullable<LiveStage["timing"]>, width: number): string {
  const before = `${milliseconds(baselineMs)} ms before`;
  const noise = `noise ${(100 * spread).toFixed(spread < 0.1 ? 1 : 0)} %`;
  if (speedup === null) return `${before}, ${noise}`;
  const whole = `${before}, ${ratio(speedup)} as fast so far, ${noise}`;
  return whole.length <= width ? whole : `${ratio(speedup)} so far, ${noise}`;
}

function stageLine(stage: LiveStage, nowMs: number, width: number, look: Look): string {
  const title = padRight(stage.stage, TITLE);
  const spent = clock(nowMs - stage.sinceMs);
  const { progress, detail } = stage;
  if (!progress || progress.total <= 0) {
    return `${look.strong(title)} ${spent}${detail === null ? "" : `  ${look.faint(printable(detail))}`}`;
  }
  const { done, total } = progress;
  const left = remainingMs(stage, nowMs);
  const share = Math.min(1, done / total);
  const figures = [
    `${String(Math.floor(100 * share)).padStart(3)} %`,
    `${done} of ${total}`,
    left === null ? spent : `${spent}, about ${clock(left)} left`,
  ];
  const room = width - TITLE - 2 - figures.join("  ").length;
  const drawn = room - 2 < LEAST_BAR ? "" : `${look.after(bar(share, Math.min(WIDEST_BAR, room - 2), look))}  `;
  return `${look.strong(title)} ${drawn}${figures.join("  ")}`;
}

/** Whole seconds: a clock that ticks more often would be drawn more often. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
