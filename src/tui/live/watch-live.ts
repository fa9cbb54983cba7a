/** A run on a terminal: stages that are done scroll up, what goes on is drawn below them. */
import type { Observer } from "../../pipeline/events.js";
import { printable } from "../../report/escape.js";
import { duration } from "../../report/numbers.js";
import { wrap } from "../../report/table.js";
import { clip, padRight } from "../cells.js";
import type { Look } from "../look.js";
import { drawLive } from "./draw.js";
import { idle, reduce } from "./fold.js";
import { Region, type RegionStream } from "./region.js";

/** Often enough for a clock of seconds, too seldom for a measurement to notice. */
const FRAME_MS = 250;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";

export interface LiveWatch {
  readonly observer: Observer;
  /** Says that an interrupt was heard. */
  readonly interrupted: () => void;
  readonly stop: () => void;
}

export function watchLive(stream: RegionStream, now: () => number, look: Look): LiveWatch {
  const region = new Region(stream);
  let view = idle;
  const frame = (): string[] => {
    const { columns, rows } = region.size;
    return drawLive(view, now(), { columns, rows: rows - 1 }, look);
  };
  const tick = (): void => region.show(frame());
  const onResize = (): void => region.resized(frame());
  // However the program ends, a terminal without a cursor is no way to leave it.
  const showCursor = (): void => void stream.write(SHOW_CURSOR);

  const timer = setInterval(tick, FRAME_MS);
  timer.unref();
  stream.on("resize", onResize);
  process.on("exit", showCursor);
  stream.write(HIDE_CURSOR);

  const finished = (): string[] => {
    const { current } = view;
    if (!current) return [];
    const detail = current.detail === null ? "" : `  ${look.faint(printable(current.detail))}`;
    const line = ` ${padRight(current.stage, 10)} ${duration(now() - current.sinceMs).padEnd(8)}${detail}`;
    return [clip(line, region.size.columns - 1).trimEnd()];
  };
  const paragraph = (title: string, text: string): string[] =>
    wrap(printable(text), Math.max(16, region.size.columns - title.length - 3)).map(
      (line, i) => ` ${i === 0 ? look.unsure(title) : " ".repeat(title.length)} ${line}`,
    );

  return {
    observer(event) {
      const done = event.type === "stage" ? finished() : [];
      view = reduce(view, event, now());
      if (event.type === "warning") return region.above(paragraph("warning:", event.warning), frame());
      if (event.type === "stage") return region.above(done, frame());
      // Progress comes as often as it likes: it is seen with the next frame.
      if (event.type === "candidate") tick();
    },
    interrupted: () => region.above(paragraph("interrupted:", "ending; once more, and it ends at once"), frame()),
    stop() {
      clearInterval(timer);
      stream.off("resize", onResize);
      process.off("exit", showCursor);
      region.above(finished(), []);
      view = idle;
      stream.write(SHOW_CURSOR);
    },
  };
}
