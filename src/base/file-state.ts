/** By which a file is known to be the one that it was, as it was: which one lies there, when it was last written to, and its size. */
export interface FileState {
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly size: bigint;
}
