import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BufferRelease } from "../../../src/runtime/ort/child/buffer-release.js";

const BYTES = 64 << 20;
const held = (): number => process.memoryUsage().arrayBuffers;

describe("a release of buffers", () => {
  it("gives their memory back by the next turn, each time, while arrays on them are still there", async () => {
    const release = new BufferRelease();
    await setImmediate();
    for (let time = 0; time < 8; time++) {
      const arrays = [0, 1].map((value) => new Float32Array(BYTES / 8).fill(value));
      const before = held();
      release.take(arrays.map(({ buffer }) => buffer));
      await setImmediate();
      expect(before - held()).toBeGreaterThan(0.9 * BYTES);
      expect(arrays.map(({ length }) => length)).toEqual([0, 0]);
    }
  });

  it("takes a buffer that two arrays share once", async () => {
    const release = new BufferRelease();
    const shared = new ArrayBuffer(16);
    release.take([new Uint8Array(shared), new Float32Array(shared)].map(({ buffer }) => buffer));
    expect(shared.byteLength).toBe(0);
  });
});
