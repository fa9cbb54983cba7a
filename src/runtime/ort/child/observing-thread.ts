/** An observer in a thread of its own: the thread. */
import { parentPort } from "node:worker_threads";
import { invariant } from "../../../base/errors.js";
import { toWireError } from "../wire-error.js";
import { BufferRelease } from "./buffer-release.js";
import { type ObservedSample, Observer } from "./observer.js";
import type { ObserverData, ObserverReply, ObserverRequest } from "./observer-in-thread.js";

export function observeInThread({ observe: task, busy }: ObserverData): void {
  invariant(parentPort, "an observer in a thread has a port");
  const port = parentPort;
  const observer = new Observer(task);
  const release = new BufferRelease();
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
    Atomics.store(busy, 0, 0);
    // What was sent is as large as all activations: it is gone before the next one comes. To collect it as garbage takes
    // longer than to look at a sample of a small model.
    if (request) release.take(buffersOf(request));
    port.postMessage(reply);
  });
}

function* buffersOf({ tensors }: ObservedSample): Iterable<ArrayBuffer> {
  for (const { data } of tensors.values())
    if (ArrayBuffer.isView(data) && data.buffer instanceof ArrayBuffer) yield data.buffer;
}
