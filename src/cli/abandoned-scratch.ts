/**
 * Scratch folders of runs that nobody could clean up after: killed for memory, or by the power. Such a folder holds copies of a
 * model, and temporary folders of servers are never emptied by themselves.
 */
import { removeLeft } from "../base/remove-left.js";
import { scratchName } from "../base/scratch-root.js";

/** Removes those in `parent` whose process is gone. What cannot be looked at or removed is somebody else's, and stays. */
export const removeAbandoned = (parent: string, now: number): void => removeLeft(parent, scratchName, now);
