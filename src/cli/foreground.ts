/**
 * The thread that has the terminal while another does the work (background.ts): it draws, and hears the keyboard's
 * signals, however long the work computes without a pause. Whatever the work holds is put away here should it be cut off.
 */
import { SHARE_ENV, Worker } from "node:worker_threads";
import { InferOptError } from "../base/errors.js";
import { shellWord } from "../base/shell-word.js";
import { end, type Unfinished } from "../base/unfinished.js";
import { type LiveWatch, watchLive } from "../tui/live/watch-live.js";
import { look } from "../tui/look.js";
import { exitCode } from "./exit-code.js";
import { lostOutput, reportFault } from "./fault.js";
import { drawsUnicode, processIo, wantsColor } from "./io.js";
import type { FromWork, TerminalFacts, ToWork } from "./thread-messages.js";

/** Work that has not heard of an interrupt by then is in the middle of a long computation, and is cut off. */
const PATIENCE_MS = 1000;

/** Does what `main` does, with the work on a thread of its own. */
export function foreground(argv: readonly string[]): Promise<number> {
  const io = processIo();
  const { stdout, stderr } = process;
  const workerData: TerminalFacts = { columns: io.columns };
  const worker = new Worker(new URL("./start-work.cjs", import.meta.url), {
    argv: [...argv],
    workerData,
    env: SHARE_ENV,
  });
  const tell = (message: ToWork): void => worker.postMessage(message);
  const context = {
    ...{ command: argv[0] ?? null, commandLine: ["infer-opt", ...argv].map(shellWord).join(" ") },
    ...{ json: false, verbose: argv.includes("--verbose") },
  };
  const held = new Map<number, Unfinished>();
  let watch: LiveWatch | null = null;
  let ended: number | null = null;
  let lost: Error | null = null;
  let patience: NodeJS.Timeout | undefined;

  const unwatch = (): void => {
    watch?.stop();
    watch = null;
  };
  /** In the middle of whatever it does. */
  const cutOff = async (code: number, fault: unknown = null): Promise<void> => {
    clearTimeout(patience);
    unwatch();
    worker.off("error", failed);
    await worker.terminate();
    for (const what of held.values()) end(what);
    if (fault !== null) reportFault(fault, context, io);
    io.exitNow(code);
  };
  const interrupted = (): void => {
    if (patience !== undefined) return void cutOff(exitCode.interrupted, cutShort());
    watch?.interrupted();
    tell({ kind: "interrupt" });
    patience = setTimeout(() => void cutOff(exitCode.interrupted, cutShort()), PATIENCE_MS);
  };
  const failed = (thrown: unknown): void => void cutOff(exitCode.internal, thrown);
  const received = (message: FromWork): void => {
    switch (message.kind) {
      case "write":
        if (message.to === "stderr") stderr.write(message.chunk);
        else if (lost === null) stdout.write(message.chunk);
        return;
      case "watch":
        watch = watchLive(stderr, () => performance.now(), look(wantsColor(io, "stderr"), drawsUnicode(io.env)));
        return;
      case "event":
        watch?.observer(message.event);
        return;
      case "unwatch":
        unwatch();
        return;
      case "hold": {
        const { id, what } = message.change;
        if (what) held.set(id, what);
        else held.delete(id);
        return;
      }
      case "heard":
        clearTimeout(patience);
        return;
      case "exit":
        void cutOff(message.code);
        return;
      case "ended":
        ended = message.code;
        return;
      default:
        message satisfies never;
    }
  };

  stdout.on("error", (cause: NodeJS.ErrnoException) => {
    // A reader that leaves early (`| head`) is no fault. Whatever else is to be written still is: told at the end.
    if (cause.code !== "EPIPE") lost ??= cause;
  });
  const resized = (): void => tell({ kind: "columns", columns: io.columns });
  stdout.on("resize", resized);
  const release = io.onInterrupt(interrupted);
  worker.on("message", received);
  worker.on("error", failed);
  return new Promise((resolve) => {
    worker.on("exit", () => {
      if (ended === null) return;
      stdout.off("resize", resized);
      release();
      clearTimeout(patience);
      // What stdout could not take is known a moment after it was asked to.
      setImmediate(() => resolve(lost === null ? ended! : reportFault(lostOutput(lost), context, io)));
    });
  });
}

const cutShort = (): InferOptError =>
  new InferOptError("INTERRUPTED", "interrupted", "the run was interrupted", {
    hint: "Nothing was left half-written; run the same command again, and a search goes on from what it had measured.",
  });
