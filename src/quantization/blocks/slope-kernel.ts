/**
 * g = H e for eight columns of errors, kept up to date as single errors change: four
 * products at a time where the engine has vector instructions, and the same bits without.
 */
import { vectorCode } from "../../base/vector-code.js";
import { slopeKernelBytes } from "./slope-kernel-bytes.js";

/** Columns that go through H together, so that it is read once for all of them. */
export const COLUMNS = 8;
const SLOPES_AT = 32;
const PAGE = 65536;

interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  follow(row: number, bytes: number): void;
}

export class Slopes {
  /** By how much the errors of a row change, one per column; read by `follow`. */
  readonly changes: Float32Array;
  /** For every four rows, four numbers of each column: see `at`. */
  readonly values: Float32Array;
  readonly #matrix: Float32Array;
  readonly #stride: number;
  readonly #matrixAt: number;
  readonly #follow: KernelExports["follow"] | null;

  /** @param matrix [size, size], symmetric */
  constructor(
    matrix: Float32Array,
    readonly size: number,
    useVectors = true,
  ) {
    const stride = Math.ceil(size / 4) * 4;
    const slopes = stride * COLUMNS;
    this.#stride = stride;
    this.#matrixAt = SLOPES_AT + 4 * slopes;
    const bytes = this.#matrixAt + 4 * stride * size;
    const kernel = useVectors ? newKernel(bytes) : null;
    const buffer = kernel?.memory.buffer ?? new ArrayBuffer(bytes);
    this.#follow = kernel?.follow ?? null;
    this.changes = new Float32Array(buffer, 0, COLUMNS);
    this.values = new Float32Array(buffer, SLOPES_AT, slopes);
    this.#matrix = new Float32Array(buffer, this.#matrixAt, stride * size);
    for (let row = 0; row < size; row++) {
      this.#matrix.set(matrix.subarray(row * size, (row + 1) * size), row * stride);
    }
  }

  /** Where in `values` the slope of a row and column is. */
  at(row: number, column: number): number {
    return (row >> 2) * 4 * COLUMNS + column * 4 + (row & 3);
  }

  product(row: number, column: number): number {
    return this.#matrix[row * this.#stride + column]!;
  }

  /** Adds what `changes` of the errors in one row do to all slopes. */
  follow(row: number): void {
    const stride = this.#stride;
    if (this.#follow) {
      this.#follow(this.#matrixAt + 4 * row * stride, 4 * stride);
      return;
    }
    for (let column = 0; column < COLUMNS; column++) {
      const change = this.changes[column]!;
      for (let i = 0; i < stride; i++) {
        this.values[this.at(i, column)]! += Math.fround(this.#matrix[row * stride + i]! * change);
      }
    }
  }
}

/** Null where the engine has no vector instructions, or not so much memory for them. */
function newKernel(bytes: number): KernelExports | null {
  const kernel = bytes > 2 ** 31 ? null : (vectorCode(slopeKernelBytes) as KernelExports | null);
  kernel?.memory.grow(Math.ceil(bytes / PAGE));
  return kernel;
}
