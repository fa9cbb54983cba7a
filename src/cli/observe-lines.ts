/** A run as lines: one a stage, candidate or warning, and a sign of life every ten seconds. */
import type { RunEvent } from "../pipeline/events.js";
import { printable } from "../report/escape.js";
import { ratio, score } from "../report/numbers.js";
import type { Watch } from "./observe.js";

const HEARTBEAT_MS = 10_000;

export function lines(stream: NodeJS.WritableStream, now: () => number): Watch {
  const started = now();
  let last = started;
  let stage = "start";
  let progress = "";

  const say = (text: string): void => {
    last = now();
    stream.write(`[${((last - started) / 1000).toFixed(1).padStart(6)} s] ${text}\n`);
  };
  const heartbeat = setInterval(() => {
    if (now() - last >= HEARTBEAT_MS) say(`${stage}${progress}`);
  }, HEARTBEAT_MS / 4);
  heartbeat.unref();

  return {
    observer(event) {
      switch (event.type) {
        case "stage":
          stage = event.stage;
          progress = "";
          return say(event.detail === undefined ? stage : `${stage}: ${printable(event.detail)}`);
        case "progress":
          progress = ` ${event.done} of ${event.total}`;
          return;
        case "timing":
          return;
        case "candidate":
          return say(`  ${candidateText(event)}`);
        case "warning":
          return say(`warning: ${printable(event.warning)}`);
        default:
          event satisfies never;
      }
    },
    stop: () => clearInterval(heartbeat),
  };
}

/** "int8 static  2.14x  accuracy 0.9930", and "2.14x estimated" before it was timed */
function candidateText(event: Extract<RunEvent, { readonly type: "candidate" }>): string {
  const { candidate, speedup, isTimed, accuracy } = event;
  const parts = [printable(candidate)];
  if (speedup !== null) parts.push(`${ratio(speedup)}${isTimed ? "" : " estimated"}`);
  if (accuracy !== null) parts.push(`accuracy ${score(accuracy)}`);
  return parts.join("  ");
}
