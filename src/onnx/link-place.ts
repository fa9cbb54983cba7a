/**
 * What tells a linked model (see linked-model.ts) from others, and where its weights are
 * looked for. Such a model may point at any file; so that nobody gets one accepted who
 * merely names his file well, the suffix holds a number that each run draws anew and
 * hands to its child processes.
 */
import { randomBytes } from "node:crypto";
import { parse, resolve } from "node:path";
import type { FileState } from "../base/file-state.js";

let mark = randomBytes(8).toString("hex");

export const linkMark = (): string => mark;

/** For a child process: the mark of its parent. */
export function trustLinks(parentMark: string): void {
  mark = parentMark;
}

export const linkedSuffix = (): string => `.${mark}.linked.onnx`;

export const isLinked = (path: string): boolean => path.endsWith(linkedSuffix());

/** The state of a file of weights, where a linked model has what other models have a checksum for. */
export const stateAsText = ({ ino, mtimeNs, size }: FileState): string => `${ino} ${mtimeNs} ${size}`;

/** Undefined of what `stateAsText` did not write. */
export function stateFromText(text: string | undefined): FileState | undefined {
  const numbers = text?.split(" ") ?? [];
  if (numbers.length !== 3 || !numbers.every((number) => /^\d+$/.test(number))) return undefined;
  const [ino, mtimeNs, size] = numbers.map(BigInt) as [bigint, bigint, bigint];
  return { ino, mtimeNs, size };
}

/** The folder that the places of a linked model are relative to. */
export const linkRoot = (path: string): string => parse(resolve(path)).root;
