/** An observer in a thread of its own: the thread. */
import { parentPort } from "node:worker_threads";
import { collectGarbage } from "../../../base/collect-garbage.js";
import { invariant } from "../../../base/errors.js";
import { toWireError } from "../wire-error.js";
import { Observer, type ObservingTask } from "./observer.js";
import type { ObserverReply, ObserverRequest } from "./observer-in-thread.js";

export function observeInThread(task: ObservingTask): void {
  invariant(parentPort, "an observer in a thread has a port");
  const port = parentPort;
  const observer = new Observer(task);
  const take = (request: ObserverRequest): ObserverReply => {
    if (request === null) return { kind: "finished", taps: observer.finish() };
    observer.add(request);
    return { kind: "seen" };
  };
  port.on("message", (request: ObserverRequest) => {
    let reply: ObserverReply;
    try {
      reply = take(request);
    } catch (cause) {
      reply = { kind: "failed", error: toWireError(cause) };
    }
    forget(request);
    port.postMessage(reply);
  });
}

/** What was sent is as large as all activations: it is gone before the next one comes. */
function forget(request: ObserverRequest): void {
  if (request === null) return;
  (request.tensors as Map<string, unknown>).clear();
  collectGarbage();
}
