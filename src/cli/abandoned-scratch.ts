/**
 * Scratch folders of runs that nobody could clean up after: killed for memory, or by the power. Such a folder holds copies of a
 * model, and temporary folders of servers are never emptied by themselves.
 */
import { removeLeft } from "../base/remove-left.js";
import { sight } from "../base/sight.js";

/** Its run is in the name of a scratch folder, before what makes the name its own. */
export const scratchPrefix = (pid: number, seenBy = sight()): string =>
  `infer-opt-${pid}-${seenBy}${seenBy ? "-" : ""}`;
const scratchName = /^infer-opt-(?<pid>\d+)-(?:(?<seenBy>[0-9a-f]{8})-)?\w{6}$/;

/** Removes those in `parent` whose process is gone. What cannot be looked at or removed is somebody else's, and stays. */
export const removeAbandoned = (parent: string, now: number): void => removeLeft(parent, scratchName, now);
