/** The thread that does the work of a run that somebody watches: the whole command, with a terminal at the other end of a port. */
import { Writable } from "node:stream";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { invariant } from "../base/errors.js";
import { tellHolds } from "../base/unfinished.js";
import { exitCode } from "./exit-code.js";
import type { Io } from "./io.js";
import { main } from "./main.js";
import { readStandardInput } from "./standard-input.js";
import type { FromWork, TerminalFacts, ToWork } from "./thread-messages.js";

export { main };

export async function background(): Promise<void> {
  invariant(parentPort, "the work is done beside a thread that has the terminal");
  const port = parentPort;
  const say = (message: FromWork): void => port.postMessage(message);
  tellHolds((change) => say({ kind: "hold", change }));
  const code = await main(process.argv.slice(2), ioThrough(port, say, workerData as TerminalFacts));
  say({ kind: "ended", code });
}

function ioThrough(port: MessagePort, say: (message: FromWork) => void, facts: TerminalFacts): Io {
  const handlers = new Set<() => void>();
  let { columns } = facts;
  port.on("message", (message: ToWork) => {
    switch (message.kind) {
      case "interrupt":
        // Nothing was begun that wants an orderly end, or it has ended.
        if (handlers.size === 0) return say({ kind: "exit", code: exitCode.interrupted });
        for (const handler of handlers) handler();
        return say({ kind: "heard" });
      case "columns":
        columns = message.columns;
        return;
      default:
        message satisfies never;
    }
  });
  port.unref();
  return {
    ...{ stdout: writableTo("stdout", say), stderr: writableTo("stderr", say) },
    isTTY: { stdout: columns !== null, stderr: true },
    get columns() {
      return columns;
    },
    watch() {
      say({ kind: "watch" });
      return { observer: (event) => say({ kind: "event", event }), stop: () => say({ kind: "unwatch" }) };
    },
    // The keyboard belongs to the other thread.
    terminal: null,
    readInput: readStandardInput,
    env: process.env,
    cwd: ".",
    onInterrupt(handler) {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
    exitNow: (code) => say({ kind: "exit", code }),
  };
}

const writableTo = (to: "stdout" | "stderr", say: (message: FromWork) => void): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      say({ kind: "write", to, chunk });
      done();
    },
  });
