/** The outside world of one run: runtime, clock, observer, a scratch folder, and an end on Ctrl-C. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { InferOptError, messageOf } from "../base/errors.js";
import { scratchPrefix, scratchRoot } from "../base/scratch-root.js";
import { hold } from "../base/unfinished.js";
import type { RunContext } from "../pipeline/context.js";
import type { EnvironmentFacts } from "../pipeline/result.js";
import { removeAbandoned } from "./abandoned-scratch.js";
import { beyondProcessors } from "./beyond-processors.js";
import type { Invocation } from "./command.js";
import { exitCode } from "./exit-code.js";
import { watchRun } from "./observe.js";
import { scratchNames } from "./scratch-names.js";

/**
 * Whatever way the body ends: the runtime's processes are gone and the scratch folder is removed.
 * Once interrupted, every failure is told as INTERRUPTED: it is what the children died of.
 */
export async function withRunContext<T>(invocation: Invocation, body: (context: RunContext) => Promise<T>): Promise<T> {
  const { io, settings, toolVersion, parameters, more } = invocation;
  const now = (): number => performance.now();
  return untilInterrupted(io, async (signal) => {
    const root = scratchRoot(io.env);
    removeAbandoned(root, Date.now());
    const scratch = makeScratch(root);
    const release = hold({ path: scratch });
    try {
      const [{ ortRuntime }, { readEnvironment }, { readMachineState: machineState }] = await Promise.all([
        import("../runtime/ort/index.js"),
        import("../runtime/environment.js"),
        import("../runtime/machine-state.js"),
      ]);
      const { cpu, flags, cores, platform, node, onnxruntime } = readEnvironment();
      const environment: EnvironmentFacts = {
        ...{ cpu, cores, platform, node },
        flags: flags ?? [],
        onnxruntime: onnxruntime ?? "not installed",
      };
      const crowded = beyondProcessors(settings.threads, cores);
      const origins = new Map<string, string>();
      const given = [...parameters, ...more, settings.baseline ?? ""].filter((path) => path !== "");
      const runtime = ortRuntime({ signal, scratch, nameOf: scratchNames(given, origins) });
      runtime.warmUp();
      const watch = watchRun(io, settings, now);
      if (crowded !== null) watch.observer({ type: "warning", warning: crowded });
      try {
        return await body({
          runtime,
          environment,
          observer: watch.observer,
          signal,
          toolVersion,
          now,
          scratch,
          origins,
          ...(crowded !== null && { warnings: [crowded] }),
          machineState,
        });
      } catch (thrown) {
        throw !existsSync(scratch)
          ? scratchVanished(scratch, thrown)
          : isWithin(scratch, thrown)
            ? scratchFailed(dirname(scratch), thrown)
            : thrown;
      } finally {
        watch.stop();
        await runtime.close();
      }
    } finally {
      rmSync(scratch, { recursive: true, force: true });
      release();
    }
  });
}

/** The first interrupt aborts the signal; the second ends the program at once. */
export async function untilInterrupted<T>(io: Invocation["io"], body: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupted = (cause?: unknown): InferOptError =>
    new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted", {
      hint: "Nothing was left half-written; run the command again to start over.",
      cause,
    });
  const release = io.onInterrupt(() => {
    if (controller.signal.aborted) io.exitNow(exitCode.interrupted);
    controller.abort(interrupted());
  });
  try {
    return await body(controller.signal);
  } catch (thrown) {
    if (!controller.signal.aborted) throw thrown;
    if (thrown instanceof InferOptError && thrown.kind === "interrupted" && thrown.hint !== undefined) throw thrown;
    throw interrupted(thrown);
  } finally {
    release();
  }
}

function makeScratch(parent: string): string {
  try {
    return mkdtempSync(join(parent, scratchPrefix(process.pid)));
  } catch (cause) {
    throw scratchFailed(parent, cause);
  }
}

const scratchFailed = (parent: string, cause: unknown): InferOptError =>
  new InferOptError("SCRATCH_FAILED", "runtime", `no scratch file can be made in ${parent}: ${messageOf(cause)}`, {
    hint: "Set INFER_OPT_TMP to a folder that can be written, on a disk with room for a few copies of the model.",
    cause,
    fields: { path: parent },
  });

/** Whatever failed then failed for want of its files. */
const scratchVanished = (scratch: string, cause: unknown): InferOptError =>
  new InferOptError("SCRATCH_FAILED", "runtime", `the folder for temporary files vanished during the run: ${scratch}`, {
    hint: "Keep others from clearing it, or set INFER_OPT_TMP to a folder that is left alone.",
    cause,
    fields: { path: scratch },
  });

/** Whether it was a scratch file that the system refused: advice about -o would be no help. */
function isWithin(scratch: string, thrown: unknown): boolean {
  const isOurs = thrown instanceof InferOptError;
  if (isOurs && thrown.code !== "OUTPUT_FAILED") return false;
  const path = isOurs ? thrown.fields["path"] : (thrown as NodeJS.ErrnoException | null)?.path;
  return typeof path === "string" && path.startsWith(scratch + sep);
}
