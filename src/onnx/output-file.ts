/** Files that appear whole or not at all: written under another name, synced, renamed; and a failed write told in words. */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { InferOptError } from "../base/errors.js";
import { end, hold, inodeOf } from "../base/unfinished.js";

/** A new file that knows its length, and its digest unless it is not hashed: that is empty then. */
export function openOutput(path: string, { isSynced = true, isHashed = true } = {}) {
  const fd = openSync(path, "w");
  const hash = isHashed ? createHash("sha256") : null;
  let position = 0;
  let digest: string | null = null;
  return {
    position: () => position,
    write(bytes: Uint8Array): void {
      hash?.update(bytes);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done);
      position += bytes.length;
    },
    close(): void {
      try {
        if (isSynced) fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    },
    sha256: (): string => (digest ??= hash?.digest("hex") ?? ""),
  };
}

/** Throws OUTPUT_FAILED where a rename would put a file in the place of a folder, a device or a way to one. */
export function refuseSpecialFile(path: string, shown: string, hint = "Name a file."): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || (stats.isFile() && !isOpenFile(path))) return;
  throw failed(shown, stats.isDirectory() ? "it is a folder" : "it is not a regular file", hint, undefined);
}

/**
 * Whether the path names what a process has open, as /dev/stdout does: a rename would put a file in the place of that name,
 * though what is open may be a regular file.
 */
export function isOpenFile(path: string): boolean {
  // No more links than any system follows.
  for (let [place, left] = [resolve(path), 40]; left > 0; left--) {
    if (/^\/(proc|dev\/fd)(\/|$)/.test(realpathSync(dirname(place)))) return true;
    if (!lstatSync(place).isSymbolicLink()) return false;
    place = resolve(dirname(place), readlinkSync(place));
  }
  return false;
}

/** Turns a failed write into words. */
export function outputFailed(path: string, cause: unknown): InferOptError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const reasons: Record<string, [string, string]> = {
    ENOSPC: ["the disk is full", "Free some space, or name a place elsewhere."],
    EDQUOT: ["the disk quota is used up", "Free some space, or name a place elsewhere."],
    EACCES: ["permission denied", "Name a place in a folder of your own."],
    EPERM: ["permission denied", "Name a place in a folder of your own."],
    EROFS: ["the file system is read-only", "Name a place elsewhere."],
    ENOENT: ["its folder does not exist", "Make the folder first."],
    EISDIR: ["it is a folder", "Name a file."],
    ENOTDIR: ["part of its path is a file", "Name a file in an existing folder."],
    ENAMETOOLONG: ["its name is too long", "Name it shorter."],
    EFBIG: ["the file system or a limit allows no file of that size", "Name a place elsewhere, or raise the limit."],
  };
  const [why, hint] = reasons[code ?? ""] ?? [
    cause instanceof Error ? cause.message : String(cause),
    "Name another place.",
  ];
  return failed(path, why, hint, cause);
}

const failed = (path: string, why: string, hint: string, cause: unknown): InferOptError =>
  new InferOptError("OUTPUT_FAILED", "input", `cannot write ${path}: ${why}`, {
    hint: `${hint} What lay at that path before is as it was.`,
    cause,
    fields: { path },
  });

/** Whether it is an error of `outputFailed` for want of room on the disk, or in its quota. */
export const isDiskFull = (thrown: unknown): boolean =>
  thrown instanceof InferOptError &&
  thrown.code === "OUTPUT_FAILED" &&
  ["ENOSPC", "EDQUOT"].includes((thrown.cause as NodeJS.ErrnoException | undefined)?.code ?? "");

/** Whether the operating system refused something; other errors are told by those who know them. */
export const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

interface SharedFile {
  holders: number;
  /** It was there before us, or a committed model needs it. */
  wanted: boolean;
  /** Of the file that we put there last. */
  inode: bigint;
  /** Says that it stays should the process end now. */
  spare(): void;
}

const shared = new Map<string, SharedFile>();

export interface HeldFile {
  /** The file stays. */
  keep(): void;
  /** It stays should the process end before `keep` or `release`: a model that needs it is about to be in place. */
  spare(): void;
  /** The file goes, unless somebody else needs it. */
  release(): void;
}

/**
 * Renames a file to a name that is made of its content. Several staged models may hold
 * the same weights, of this run or of one that goes on beside it, and so may a model of an earlier run: one that is
 * discarded must not take the file from the others.
 */
export function holdByContent(from: string, path: string): HeldFile {
  const inode = inodeOf(from)!;
  const file = shared.get(path) ?? { holders: 0, wanted: existsSync(path), inode, spare: () => undefined };
  const spareFormer = file.spare;
  if (!file.wanted) file.spare = hold({ path, inode });
  try {
    renameSync(from, path);
  } catch (cause) {
    if (!file.wanted) file.spare();
    file.spare = spareFormer;
    throw cause;
  }
  spareFormer();
  shared.set(path, file);
  file.inode = inode;
  file.holders++;
  let held = true;
  const letGo = (): void => {
    if (held && --file.holders === 0) {
      shared.delete(path);
      file.spare();
      // What lies there by now may be another run's, and needed.
      if (!file.wanted) end({ path, inode: file.inode });
    }
    held = false;
  };
  return {
    keep() {
      file.wanted = true;
      file.spare();
      letGo();
    },
    spare: () => file.spare(),
    release: letGo,
  };
}
