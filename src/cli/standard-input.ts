/** What is piped in, for commands that take `-` in place of a file. */
import { readSync } from "node:fs";
import { isatty } from "node:tty";
import { InferOptError, messageOf } from "../base/errors.js";

/** Of the path, where a result is to be read from a pipe. */
export const isStandardInput = (path: string): boolean => path === "-";

/** What it is called in messages. */
export const STANDARD_INPUT = "standard input";

const PIECE = 1 << 16;
/** Until there may be more. */
const WAIT_MS = 5;

/** All of it; read at once, since there is nothing to do before. Throws RESULT_UNREADABLE, on a terminal too. */
export function readStandardInput(): string {
  if (isatty(0)) {
    throw new InferOptError("RESULT_UNREADABLE", "input", "nothing is piped in: standard input is a terminal", {
      hint: "Pipe a result in, as in `infer-opt quantize ... --json | infer-opt report -`, or name its file.",
      fields: { path: "-" },
    });
  }
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.alloc(PIECE);
    const length = readPiece(piece);
    if (length === 0) return Buffer.concat(pieces).toString("utf8");
    if (length !== null) pieces.push(piece.subarray(0, length));
  }
}

/** Its bytes; null where there may be some later. */
function readPiece(piece: Buffer): number | null {
  try {
    return readSync(0, piece);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The end of a pipe, as Windows tells it.
    if (code === "EOF") return 0;
    if (code !== "EAGAIN") throw unreadable(error);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    return null;
  }
}

const unreadable = (cause: unknown): InferOptError =>
  new InferOptError("RESULT_UNREADABLE", "input", `standard input cannot be read: ${messageOf(cause)}`, {
    hint: "Pipe a result in, or name its file.",
    cause,
    fields: { path: "-" },
  });
