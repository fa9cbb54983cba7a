/** Frees the memory of array buffers that nobody needs any more, without a collection of garbage. */
import { MessageChannel, type MessagePort } from "node:worker_threads";

/**
 * What is moved to a port whose other end is closed goes with the message that nobody gets: at the next turn of the event
 * loop. Whoever still has a buffer finds it empty.
 */
export class BufferRelease {
  readonly #port: MessagePort;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    port2.close();
    this.#port = port1;
  }

  /** @param buffers of this thread's own; what two arrays share may come twice */
  take(buffers: Iterable<ArrayBuffer>): void {
    this.#port.postMessage(null, [...new Set(buffers)]);
  }
}
