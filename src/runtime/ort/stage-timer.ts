/** Whole requests in a fresh process of their own: the user's stages and the model. */
import { InferOptError } from "../../base/errors.js";
import { stageError, stagesEnded } from "../../stages/index.js";
import type { StagesSpec, StageTimer } from "../port.js";
import type { JobPool } from "./job-pool.js";
import type { JobName, Jobs } from "./protocol.js";

export async function openStageTimer(pool: JobPool, spec: StagesSpec, timeoutMs: number): Promise<StageTimer> {
  const process = pool.own("plain", spec.session.affinity);
  const call = async <J extends JobName>(job: J, args: Jobs[J]["args"]): Promise<Jobs[J]["result"]> => {
    try {
      return await process.call({ job, args, model: spec.model, timeoutMs });
    } catch (error) {
      // What a module left behind is not to be built upon.
      process.retire(error as Error);
      throw blamed(error, spec.pipeline);
    }
  };
  const close = async (): Promise<void> => {
    pool.disown(process);
    await process.close();
  };
  try {
    const opened = await call("stagesOpen", spec);
    return {
      ...opened,
      measure: (requests, how) => call("stagesRun", { requests, how }),
      peakRssBytes: () => call("peakRss", {}),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A process that falls silent or ends while the user's code has the word does so by that code. */
function blamed(error: unknown, path: string): unknown {
  if (!(error instanceof InferOptError)) return error;
  const { timeoutMs, signal, exitCode, output } = error.fields;
  const isTold = typeof error.fields["doing"] === "string";
  const doing = isTold ? error.fields["doing"] : `one of the stages of ${path}`;
  const details = { cause: error, fields: { path, doing, output } };
  if (error.code === "RUNTIME_TIMEOUT") {
    if (!isTold) return error;
    const seconds = Math.round((timeoutMs as number) / 100) / 10;
    const hint = "Look for a loop or a promise that never ends; a server or a download has no place in a stage.";
    return stageError("PIPELINE_HANGS", `${doing} did not end within ${seconds} s`, hint, details);
  }
  if (error.code !== "RUNTIME_CRASHED" || signal !== null) return error;
  const said = /^\w*Error: .*$/m.exec(String(output ?? ""))?.[0];
  const how = `exit code ${exitCode}${said === undefined ? "" : `; ${said}`}`;
  return stagesEnded(String(doing), how, details);
}
