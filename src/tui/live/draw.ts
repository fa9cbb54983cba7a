/** The lines below a run that goes on: stage, progress and time left, timing and noise, the best candidate so far. */
import { printable } from "../../report/escape.js";
import { milliseconds, ratio, score } from "../../report/numbers.js";
import { clip, padRight, shorten, widthOf } from "../cells.js";
import type { Look } from "../look.js";
import { bar } from "../plot.js";
import { type LiveStage, type LiveView, remainingMs } from "./fold.js";

const TITLE = 10;
const WIDEST_BAR = 30;
/** Of a bar that says anything. */
const LEAST_BAR = 8;
/** Of a name that tells candidates apart. */
const LEAST_NAME = 8;

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
  if (best) lines.push(`${padRight("best", TITLE)} ${bestText(best, candidates.size, columns - TITLE - 3)}`);
  return lines.slice(0, Math.max(0, rows)).map((line) => clip(` ${line}`, columns - 1));
}

/** Figures first: a name that has no room is shortened, and goes where too little of it would be left. */
function bestText(best: NonNullable<LiveView["best"]>, of: number, width: number): string {
  const { accuracy, candidate } = best;
  const count = of > 1 ? [`(of ${of})`] : [];
  const figures = speedTexts(best).map((speed) => [
    ...speed,
    ...(accuracy === null ? [] : [`accuracy ${score(accuracy)}`]),
  ]);
  const roomBeside = (each: readonly string[]): number => width - [...each, "", ...count].join("  ").length;
  const shown = figures.find((each) => roomBeside(each) >= LEAST_NAME) ?? figures.at(-1)!;
  const room = roomBeside(shown);
  const name = room < LEAST_NAME ? [] : [shorten(printable(candidate), room)];
  return [...shown, ...name, ...count].join("  ");
}

/** In words, and in fewer signs for where there is little room. */
function speedTexts({ speedup, isTimed }: NonNullable<LiveView["best"]>): readonly (readonly string[])[] {
  if (speedup === null) return [[]];
  return isTimed ? [[ratio(speedup)]] : [[`${ratio(speedup)} estimated`], [`~${ratio(speedup)}`]];
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
  const counted = [`${String(Math.floor(100 * share)).padStart(3)} %`, `${done} of ${total}`];
  // Where there is little room, the time left counts for more than the time spent.
  const figures =
    left === null
      ? [[...counted, spent], counted]
      : [
          [...counted, `${spent}, about ${clock(left)} left`],
          [...counted, `${clock(left)} left`],
          [counted[0]!, `${clock(left)} left`],
        ];
  const room = width - TITLE - 1;
  const texts = figures.map((parts) => parts.join("  "));
  const text = texts.find((each) => widthOf(each) <= room) ?? texts.at(-1)!;
  const free = room - text.length - 2;
  const drawn = free < LEAST_BAR ? "" : `${look.after(bar(share, Math.min(WIDEST_BAR, free), look))}  `;
  return `${look.strong(title)} ${drawn}${text}`;
}

/** Whole seconds: a clock that ticks more often would be drawn more often. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
