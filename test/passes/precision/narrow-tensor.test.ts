import { describe, expect, it } from "vitest";
import { Tensor } from "../../../src/ir/index.js";
import { narrowingLoss, narrowTensor } from "../../../src/passes/precision/narrow-tensor.js";

/** A tensor whose bytes come in pieces of the given length, which need not be whole elements. */
function inPieces(values: number[], pieceBytes: number): { tensor: Tensor; pieces: () => number } {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  let pieces = 0;
  const source = {
    byteLength: bytes.length,
    read: () => bytes,
    *chunks() {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        pieces++;
        yield bytes.slice(at, at + pieceBytes);
      }
    },
  };
  return { tensor: Tensor.fromSource("f32", [values.length], source), pieces: () => pieces };
}

const values = [1, -2.5, 65504, 1e-9, Number.NEGATIVE_INFINITY, 0.1, 3];

describe("narrowTensor", () => {
  it.each([1, 3, 4, 7, 64])("gives the same bytes however its source is cut: pieces of %i", (pieceBytes) => {
    const { tensor } = inPieces(values, pieceBytes);
    const narrow = narrowTensor(tensor, "f16");
    expect(narrow.bytes()).toEqual(narrowTensor(Tensor.f32([7], values), "f16").bytes());
    expect([...narrow.toF32()!].slice(0, 5)).toEqual([1, -2.5, 65504, 0, Number.NEGATIVE_INFINITY]);
  });

  it("reads nothing before it is asked, and a piece at a time", () => {
    const { tensor, pieces } = inPieces(values, 8);
    const narrow = narrowTensor(tensor, "bf16");
    expect(pieces()).toBe(0);
    narrow.byteSource.chunks()[Symbol.iterator]().next();
    expect(pieces()).toBe(1);
  });
});

describe("narrowingLoss", () => {
  it("sees what overflows and what vanishes, infinities being neither", () => {
    expect(narrowingLoss(Tensor.f32([4], [65504, -1e-9, Number.POSITIVE_INFINITY, 0]), "f16")).toEqual({
      overflows: false,
      flushed: 1,
    });
    expect(narrowingLoss(Tensor.f32([2], [1, -65505]), "f16").overflows).toBe(true);
    expect(narrowingLoss(Tensor.f32([2], [1, -65505]), "bf16").overflows).toBe(false);
  });
});
