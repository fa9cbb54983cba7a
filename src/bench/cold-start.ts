/** Several starts of the same model as one. */
import { median } from "../base/statistics.js";
import type { ColdStart } from "../runtime/port.js";

/** The middle one of each part. */
export function usualStart(starts: readonly ColdStart[]): ColdStart {
  const middle = (part: keyof ColdStart): number => median(starts.map((start) => start[part]));
  return {
    ...{ processMs: middle("processMs"), runtimeMs: middle("runtimeMs"), sessionMs: middle("sessionMs") },
    ...{ runtimeBytes: middle("runtimeBytes"), sessionBytes: middle("sessionBytes") },
  };
}
