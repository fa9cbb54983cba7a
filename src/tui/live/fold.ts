/** What a run is doing, folded from its events. Pure: drawing is somebody else's business. */
import type { RunEvent, Stage } from "../../pipeline/events.js";

type Event<T extends RunEvent["type"]> = Extract<RunEvent, { readonly type: T }>;

export interface LiveStage {
  readonly stage: Stage;
  readonly detail: string | null;
  readonly sinceMs: number;
  readonly progress: Progress | null;
  readonly timing: Event<"timing"> | null;
}

interface Progress {
  readonly done: number;
  readonly total: number;
  /** When counting began, and at what: what went before is no measure of its pace. */
  readonly firstMs: number;
  readonly firstDone: number;
}

export interface LiveView {
  readonly current: LiveStage | null;
  /** The fastest so far of those that were timed, and while none was by what is estimated. */
  readonly best: Event<"candidate"> | null;
  /** By name, with what is known by now: each is told of more than once. */
  readonly candidates: ReadonlyMap<string, Event<"candidate">>;
}

export const idle: LiveView = { current: null, best: null, candidates: new Map() };

export function reduce(view: LiveView, event: RunEvent, nowMs: number): LiveView {
  const { current } = view;
  switch (event.type) {
    case "stage": {
      const { stage, detail = null } = event;
      return { ...view, current: { stage, detail, sinceMs: nowMs, progress: null, timing: null } };
    }
    case "progress": {
      if (!current) return view;
      const { done, total } = event;
      const before = current.progress;
      // Counting that starts anew within a stage is another piece of work.
      const isSame = before !== null && before.total === total && before.done <= done;
      const { firstMs, firstDone } = isSame ? before : { firstMs: nowMs, firstDone: done };
      return { ...view, current: { ...current, progress: { done, total, firstMs, firstDone } } };
    }
    case "timing":
      return current ? { ...view, current: { ...current, timing: event } } : view;
    case "candidate": {
      const before = view.candidates.get(event.candidate);
      const { speedup, isTimed } = event.speedup === null && before ? before : event;
      const known = { ...event, speedup, isTimed, accuracy: event.accuracy ?? before?.accuracy ?? null };
      const candidates = new Map(view.candidates).set(event.candidate, known);
      return { ...view, candidates, best: fastestOf([...candidates.values()]) };
    }
    case "warning":
      return view;
    default:
      event satisfies never;
      return view;
  }
}

/** An estimate is no match for a measured speed: it may flatter. */
function fastestOf(candidates: readonly Event<"candidate">[]): Event<"candidate"> {
  const timed = candidates.filter(({ isTimed }) => isTimed);
  const equals = timed.length > 0 ? timed : candidates;
  return equals.reduce((a, b) => ((b.speedup ?? 0) > (a.speedup ?? 0) ? b : a));
}

/** Less than this was not watched long enough to tell. */
const TOLD_FROM_MS = 2000;

/** Milliseconds that the rest of what is counted takes at the pace so far; null where nobody can tell. */
export function remainingMs({ progress }: LiveStage, nowMs: number): number | null {
  if (!progress) return null;
  const { done, total, firstMs, firstDone } = progress;
  const [spent, made] = [nowMs - firstMs, done - firstDone];
  return spent < TOLD_FROM_MS || made <= 0 || done >= total ? null : (spent / made) * (total - done);
}
