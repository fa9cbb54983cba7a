/**
 * A file for weights that rewrites make: folded into a Conv, transposed, merged. In memory
 * they would add up to the size of the model. The file grows until it is dropped.
 */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { Tensor } from "../ir/index.js";
import { fileSource } from "../onnx/index.js";

/** Smaller tensors stay in memory: they are read often and weigh little. */
const LEAST_BYTES = 32 << 10;

export class ScratchWeights {
  #fd: number | null = null;
  #position = 0;

  constructor(readonly path: string) {}

  /** The same tensor, its bytes in the file when they are many and not in a file already. */
  readonly store = (tensor: Tensor): Tensor => {
    if (tensor.dtype === "string" || tensor.file !== null || tensor.byteLength < LEAST_BYTES) return tensor;
    this.#fd ??= openSync(this.path, "w");
    const offset = this.#position;
    for (const chunk of tensor.byteSource.chunks()) {
      for (let done = 0; done < chunk.length; ) {
        done += writeSync(this.#fd, chunk, done, chunk.length - done, this.#position + done);
      }
      this.#position += chunk.length;
    }
    return Tensor.fromSource(
      tensor.dtype,
      tensor.dims,
      fileSource(this.path, offset, tensor.byteLength),
      tensor.extras,
    );
  };

  /** No more is written; what was stays readable. */
  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  drop(): void {
    this.close();
    rmSync(this.path, { force: true });
  }
}
