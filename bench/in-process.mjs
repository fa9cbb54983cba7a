// Runs commands of the pipeline in this process, on a runtime with one worker: what bench/corpus.mjs and
// bench/conformance.mjs have in common.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferOptError, ortRuntime, readEnvironment } from "../dist/index.js";

/** The runtime's own optimizer is off: what is compared are the graphs as written. */
export const session = { provider: "cpu", threads: 1, optimization: "disabled", timeoutMs: 60_000 };

/** Gives `body` a context; the runtime and the scratch folder go when it ends. */
export async function inProcess(name, body) {
  const scratch = mkdtempSync(join(tmpdir(), `${name}-`));
  const runtime = ortRuntime({ workers: 1 });
  try {
    return await body({
      runtime,
      environment: { ...readEnvironment(), flags: [], onnxruntime: "" },
      observer: () => {},
      signal: new AbortController().signal,
      toolVersion: name,
      now: () => performance.now(),
      scratch,
    });
  } finally {
    await runtime.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param graph what differs from the defaults of `fuse`; `data` is compared on, or made-up inputs when null */
export const fuseConfig = (model, output, data, graph) => ({
  recipe: "fuse",
  model,
  runtime: { ...session, allowFallback: false, seed: 0, shapes: new Map(), batch: 1, benchMs: 0 },
  data: { calibration: null, eval: data, metric: null },
  out: { output, externalData: false, keepRejected: false },
  graph: {
    ...{ skip: [], only: [], shapes: new Map(), keepOpset: false, foldBudgetBytes: 2 ** 20, check: true },
    ...{ verify: "fast", bisect: false, runtimeSpecific: false, ...graph },
  },
});

/** In a line; where it is no fault of the model's, with the place. */
export function reasonOf(thrown) {
  if (!(thrown instanceof Error)) throw thrown;
  const code = thrown instanceof InferOptError ? `${thrown.code}: ` : `${thrown.stack?.slice(0, 400)} `;
  return `${code}${thrown.message}`.replaceAll(/\s+/g, " ").slice(0, 400);
}
