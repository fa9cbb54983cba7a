/**
 * The child process: takes one request at a time, answers it, and ends with its
 * parent. Jobs are imported when first asked for, so that timing a model does not
 * pay for what only scoring needs.
 */
import { isMainThread, workerData } from "node:worker_threads";
import { trustLinks } from "../../../onnx/link-place.js";
import type { ProviderFallback } from "../../port.js";
import type { JobHandler, JobName, Reply, Request } from "../protocol.js";
import { peakResidentBytes } from "../resident-size.js";
import { toWireError } from "../wire-error.js";
import type { ObserverData } from "./observer-in-thread.js";

type Handlers = { readonly [J in JobName]: () => Promise<JobHandler<J>> };

const handlers: Handlers = {
  facts: async () => (await import("./load-ort.js")).facts,
  describe: async () => (await import("./describe.js")).describe,
  run: async () => (await import("./run.js")).run,
  observe: async () => (await import("./observe.js")).observe,
  advance: async () => (await import("./advance.js")).advance,
  reduce: async () => (await import("./reduce.js")).reduce,
  score: async () => (await import("./score.js")).score,
  train: async () => (await import("./train.js")).train,
  compare: async () => (await import("./compare.js")).compare,
  placement: async () => (await import("./placement.js")).placement,
  profileNodes: async () => (await import("./profile-nodes.js")).profileNodes,
  nodeTimes: async () => (await import("./placement.js")).nodeTimes,
  timeOpen: async () => (await import("./time.js")).timeOpen,
  timeServe: async () => (await import("./time.js")).timeServe,
  stagesOpen: async () => (await import("./stages.js")).stagesOpen,
  stagesRun: async () => (await import("./stages.js")).stagesRun,
  timeRuns: async () => (await import("./time.js")).timeRuns,
  peakRss: async () => async () => peakResidentBytes(),
};

async function answer({ id, job, args, links }: Request): Promise<void> {
  trustLinks(links);
  const fallbacks: ProviderFallback[] = [];
  const aftermath = () => ({ id, peakRssBytes: peakResidentBytes(), fallbacks });
  try {
    const handler = (await handlers[job]()) as JobHandler<JobName>;
    const result = await handler(args, {
      progress: (done, total) => reply({ kind: "progress", id, done, total }),
      due: (withinMs, doing) => reply({ kind: "due", id, withinMs, doing: doing ?? null }),
      fellBack: (fallback) => fallbacks.push(fallback),
    });
    reply({ kind: "done", result, ...aftermath() });
  } catch (error) {
    reply({ kind: "failed", error: toWireError(error), ...aftermath() });
  }
}

function reply(message: Reply): void {
  process.send?.(message);
}

if (isMainThread) {
  // Loading the runtime takes longer than anything else here: it need not wait for the first job,
  // which is the one to tell if it fails.
  import("./load-ort.js").then(({ loadOrt }) => loadOrt()).catch(() => undefined);
  process.on("message", (request: Request) => void answer(request));
  process.on("disconnect", () => process.exit(0));
  // Ctrl-C reaches every process of a terminal; what becomes of a run is for the parent to say.
  process.on("SIGINT", () => undefined);
} else {
  // The same file is what a thread starts with: statistics behind a model, or a user's stages ahead of it.
  const data: ObserverData | object = workerData;
  if ("observe" in data) void import("./observing-thread.js").then(({ observeInThread }) => observeInThread(data));
  else void import("./stage-thread.js").then(({ workAhead }) => workAhead());
}
