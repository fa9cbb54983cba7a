/** The stages before the model in a thread of their own: the thread. */
import { parentPort, workerData } from "node:worker_threads";
import { invariant, messageOf } from "../../../base/errors.js";
import { loadPipelineModule, portable, requestsOf } from "../../../stages/index.js";
import { sharedNowMs } from "../shared-clock.js";
import { toWireError } from "../wire-error.js";
import type { AheadData, ThreadReply } from "./stages-ahead.js";
import { throughStages } from "./user-stages.js";

/** Loads the module a second time, and prepares the requests that are asked for, one after the other. */
export async function workAhead(): Promise<void> {
  invariant(parentPort, "stages work ahead in a thread");
  const port = parentPort;
  const { path, requests: given, ports } = workerData as AheadData;
  const say = (reply: ThreadReply): void => port.postMessage(reply);
  const module = await loadPipelineModule(path);
  const requests = given ?? (await requestsOf(module))!;
  const prepare = async (index: number): Promise<void> => {
    const startedAt = sharedNowMs();
    const state: Record<string, unknown> = {};
    let value: unknown;
    try {
      const traveller = { ...ports, index, state, request: requests[index] };
      value = portable(await throughStages(module, module.before, requests[index], traveller));
    } catch (cause) {
      return say({ kind: "failed", error: toWireError(cause) });
    }
    try {
      say({ kind: "prepared", value, state, startedAt });
    } catch (cause) {
      say({ kind: "stuck", why: `what the stages hand on cannot cross to another thread: ${messageOf(cause)}` });
    }
  };
  let queue = Promise.resolve();
  port.on("message", (index: number) => {
    queue = queue.then(() => prepare(index));
  });
  say({ kind: "ready" });
}
