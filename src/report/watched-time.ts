/** How times of nodes, which are watched, stand beside those of whole runs, which are not. */
import type { ModelProfileFacts } from "../pipeline/profile/profile-facts.js";
import { milliseconds, ratio } from "./numbers.js";

/** Nodes together over a whole run: between these nobody need be told. */
const [LEAST_SHARE, MOST_SHARE] = [0.75, 1.25];

/** What is to be known before times of nodes are compared with anything else; null where they add up to about a run. */
export function watchedTime({
  nodesMs,
  stages: { run },
}: Pick<ModelProfileFacts, "nodesMs" | "stages">): string | null {
  const share = nodesMs / run.p50Ms;
  if (!Number.isFinite(share) || (share >= LEAST_SHARE && share <= MOST_SHARE)) return null;
  const both = `nodes take ${milliseconds(nodesMs)} ms together and a run without the profiler ${milliseconds(run.p50Ms)} ms`;
  return share > 1
    ? `${both}, ${ratio(share)} as much: to watch a node takes time too, and on a busy machine more; go by shares`
    : `${both}: time passes between nodes too, or the machine was busy when whole runs were timed; go by shares`;
}
