/**
 * What a baseline gave on made-up inputs, for the next comparison with it: where a rewritten model is off by more than
 * usual, it is compared with the runtime's own fusions and with itself too, on the same inputs.
 */
import { statSync } from "node:fs";
import { serialize } from "node:v8";
import type { Tensors } from "../../port.js";
import type { Jobs } from "../protocol.js";
import type { OpenModel } from "./session.js";

/** Outputs held between jobs. */
const MOST_BYTES = 16 * 2 ** 20;

/** What a comparison must know of a model that it does not run. */
export type Ports = Pick<OpenModel, "signature" | "readable">;

let last: BaselineMemory | null = null;

export class BaselineMemory {
  readonly #outputs = new Map<number, Tensors>();
  #bytes = 0;
  ports: Ports | null = null;
  /** The longest that opening the baseline, or one run, has taken. */
  slowestMs = 0;

  private constructor(readonly key: string) {}

  /** The memory of this process, empty where it is of another baseline; null for samples that lie in files, which may change. */
  static of({ baseline, pairs, data, session }: Jobs["compare"]["args"]): BaselineMemory | null {
    const file = statSync(baseline, { throwIfNoEntry: false });
    if (!data.random || !file) return null;
    const key = serialize([baseline, file.mtimeMs, file.size, pairs, data, session]).toString("base64");
    if (last?.key !== key) last = new BaselineMemory(key);
    return last;
  }

  outputs(sample: number): Tensors | undefined {
    return this.#outputs.get(sample);
  }

  keep(sample: number, outputs: Tensors): void {
    if (this.#outputs.has(sample)) return;
    let bytes = 0;
    for (const tensor of outputs.values()) bytes += tensor.byteLength;
    if (this.#bytes + bytes > MOST_BYTES) return;
    this.#bytes += bytes;
    this.#outputs.set(sample, outputs);
  }
}
