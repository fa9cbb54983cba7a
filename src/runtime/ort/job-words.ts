/** What a job is to whoever reads that it failed: the words before the name of its model. */
import type { JobName } from "./protocol.js";

export const jobWords: Readonly<Record<JobName, string>> = {
  facts: "loading",
  describe: "opening",
  run: "running",
  observe: "watching the values of",
  advance: "running a part of",
  reduce: "adding up answers of",
  score: "scoring",
  train: "training",
  compare: "comparing",
  placement: "profiling",
  profileNodes: "profiling",
  nodeTimes: "profiling",
  timeOpen: "opening",
  timeServe: "serving requests with",
  timeRuns: "timing",
  stagesOpen: "trying the pipeline with",
  stagesRun: "timing requests to",
  peakRss: "timing",
};
