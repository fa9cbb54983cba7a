import { describe, expect, it } from "vitest";
import { Tensor } from "../../../src/ir/index.js";
import { inTurn } from "../../../src/passes/fuse/channel-order.js";
import { scaledTensor, tensorLike } from "../../../src/passes/fuse/computed-tensor.js";

const all = inTurn(3, 1);

const small = (value: number): Tensor => Tensor.f32([3], [1, 2, value]);

describe("scaledTensor", () => {
  it("rounds the product of doubles once", () => {
    const third = 1 / 3;
    expect([...scaledTensor(small(0.1), Float64Array.of(third), all)!.f32()]).toEqual(
      [1, 2, Math.fround(0.1)].map((value) => Math.fround(value * third)),
    );
  });

  it("declines what the type cannot hold", () => {
    expect(scaledTensor(small(1e30), Float64Array.of(1e30), all)).toBeNull();
    expect(scaledTensor(small(1), Float64Array.of(Number.NaN), all)).toBeNull();
    expect(tensorLike("f16", [1], Float64Array.of(1e6))).toBeNull();
  });

  it("computes a large tensor piece by piece, whenever it is read", () => {
    const count = (17 << 20) / 4;
    const data = Float32Array.from({ length: count }, (_, i) => i % 1024);
    let reads = 0;
    const tensor = Tensor.fromSource("f32", [count], {
      byteLength: data.byteLength,
      read: () => {
        throw new Error("nobody asks for the whole");
      },
      *chunks() {
        reads++;
        // Chunks that begin anywhere, as long as elements stay whole.
        for (let at = 0; at < data.byteLength; at += 5_000_004) {
          yield new Uint8Array(data.buffer, at, Math.min(5_000_004, data.byteLength - at));
        }
      },
    });
    const scaled = scaledTensor(tensor, Float64Array.of(0, 1, 2), inTurn(1, 3))!;
    expect(reads).toBe(1);
    const values = scaled.f32();
    expect(reads).toBe(2);
    expect(values.every((value, i) => value === (i % 1024) * (i % 3))).toBe(true);
  });
});
