/** By which a file is known to be the one that it was, as it was: which one lies there, when it was last written to, and its size. */
export interface FileState {
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly size: bigint;
}

/** A range of a file. `path` is absolute; `state` is what the file has to be for the range to be the one meant. */
export interface FilePlace {
  readonly path: string;
  readonly offset: number;
  readonly state?: FileState;
}
