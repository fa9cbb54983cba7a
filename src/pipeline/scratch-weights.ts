/**
 * A file for weights that rewrites make: folded into a Conv, transposed, merged. In memory
 * they would add up to the size of the model. The file grows until it is dropped.
 */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { Tensor } from "../ir/index.js";
import { fileSource, outputFailed } from "../onnx/index.js";

/** Smaller tensors stay in memory: they are read often and weigh little. */
const LEAST_BYTES = 32 << 10;

export class ScratchWeights {
  #fd: number | null = null;
  #position = 0;

  constructor(readonly path: string) {}

  /** The same tensor, its bytes in the file when they are many and not in a file already. */
  readonly store = (tensor: Tensor): Tensor => {
    if (tensor.dtype === "string" || tensor.file !== null || tensor.byteLength < LEAST_BYTES) return tensor;
    const offset = this.#position;
    for (const chunk of tensor.byteSource.chunks()) this.#append(chunk);
    return Tensor.fromSource(
      tensor.dtype,
      tensor.dims,
      fileSource(this.path, offset, tensor.byteLength),
      tensor.extras,
    );
  };

  /** Throws OUTPUT_FAILED when the system refuses. */
  #append(bytes: Uint8Array): void {
    try {
      this.#fd ??= openSync(this.path, "w");
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#position + done);
      }
    } catch (cause) {
      throw outputFailed(this.path, cause);
    }
    this.#position += bytes.length;
  }

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
