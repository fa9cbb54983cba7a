/** A run on a terminal: one live bar for the current stage, finished stages and warnings above it. */
import { SingleBar } from "cli-progress";
import type { RunEvent } from "../pipeline/events.js";
import { middle, printable } from "../report/escape.js";
import { duration } from "../report/numbers.js";
import type { Watch } from "./observe.js";
import { candidateText } from "./observe-lines.js";

export function bars(stream: NodeJS.WritableStream, now: () => number): Watch {
  let stage: { readonly name: string; readonly since: number; bar: SingleBar } | null = null;
  let best: { readonly speedup: number; readonly text: string } | null = null;

  const start = (name: string): void => {
    const bar = new SingleBar({
      stream,
      format: ` ${name.padEnd(10)} [{bar}] {done}  {best}`,
      barsize: 24,
      barCompleteChar: "#",
      barIncompleteChar: ".",
      hideCursor: true,
      clearOnComplete: true,
      stopOnComplete: false,
      noTTYOutput: true,
      etaBuffer: 20,
      gracefulExit: false,
    });
    bar.start(1, 0, { done: "", best: best?.text ?? "" });
    stage = { name, since: now(), bar };
  };
  const finish = (): void => {
    if (!stage) return;
    stage.bar.stop();
    stream.write(` ${stage.name.padEnd(10)} ${duration(now() - stage.since)}\n`);
    stage = null;
  };
  /** Writes a line above the bar, which is drawn again below it. */
  const above = (text: string): void => {
    stage?.bar.stop();
    stream.write(`${text}\n`);
    if (!stage) return;
    const { name, since } = stage;
    start(name);
    stage = { ...stage, since };
  };

  const observer = (event: RunEvent): void => {
    switch (event.type) {
      case "stage":
        finish();
        start(event.stage);
        break;
      case "progress":
        stage?.bar.setTotal(Math.max(1, event.total));
        stage?.bar.update(event.done, { done: `${event.done}/${event.total}` });
        break;
      case "candidate":
        if (event.speedup !== null && (best === null || event.speedup > best.speedup)) {
          best = { speedup: event.speedup, text: middle(`best ${candidateText(event)}`, 34) };
        }
        stage?.bar.update({ best: best?.text ?? "" });
        break;
      case "warning":
        above(` warning: ${printable(event.warning)}`);
        break;
      default:
        event satisfies never;
    }
  };
  return { observer, stop: finish };
}
