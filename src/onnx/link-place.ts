/**
 * What tells a linked model (see linked-model.ts) from others, and where its weights are
 * looked for. Such a model may point at any file; so that nobody gets one accepted who
 * merely names his file well, the suffix holds a number that each run draws anew and
 * hands to its child processes.
 */
import { randomBytes } from "node:crypto";
import { parse, resolve } from "node:path";

let mark = randomBytes(8).toString("hex");

export const linkMark = (): string => mark;

/** For a child process: the mark of its parent. */
export function trustLinks(parentMark: string): void {
  mark = parentMark;
}

export const linkedSuffix = (): string => `.${mark}.linked.onnx`;

export const isLinked = (path: string): boolean => path.endsWith(linkedSuffix());

/** The folder that the places of a linked model are relative to. */
export const linkRoot = (path: string): string => parse(resolve(path)).root;
