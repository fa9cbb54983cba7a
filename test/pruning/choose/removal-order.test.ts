import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { type Reader, removalOrder } from "../../../src/pruning/choose/removal-order.js";
import { factor, solve } from "../../../src/pruning/refit/cholesky.js";

const random = seededRandom(11);
const noise = (): number => random.next() - 0.5;

function readerOf(units: number, places: number, outputs: number, rows = 400, mix = (x: number[]) => x): Reader {
  const inputs = units * places;
  const gram = new Float64Array(inputs * inputs);
  for (let r = 0; r < rows; r++) {
    const x = mix(Array.from({ length: inputs }, noise));
    for (let i = 0; i < inputs; i++) for (let j = 0; j < inputs; j++) gram[i * inputs + j]! += x[i]! * x[j]!;
  }
  const unitOf = Int32Array.from({ length: inputs }, (_, i) => Math.floor(i / places));
  const weights = Float64Array.from({ length: outputs * inputs }, noise);
  return { inputs, outputs, gram, weights, unitOf, variance: varianceOf({ inputs, outputs, gram, weights }) };
}

/** sum over outputs of W H transpose(W): the squares of what the reader makes. */
function varianceOf({ inputs, outputs, gram, weights }: Omit<Reader, "unitOf" | "variance">): number {
  let total = 0;
  for (let o = 0; o < outputs; o++)
    for (let i = 0; i < inputs; i++)
      for (let j = 0; j < inputs; j++)
        total += weights[o * inputs + i]! * gram[i * inputs + j]! * weights[o * inputs + j]!;
  return total;
}

/** What is missed when only some units are left and their weights are fitted anew. */
function missedWith({ inputs, outputs, gram, weights, unitOf }: Reader, left: ReadonlySet<number>): number {
  const kept = Array.from({ length: inputs }, (_, i) => i).filter((i) => left.has(unitOf[i]!));
  const small = Float64Array.from(kept.flatMap((i) => kept.map((j) => gram[i * inputs + j]!)));
  const right = new Float64Array(outputs * kept.length);
  for (let o = 0; o < outputs; o++) {
    kept.forEach((i, k) => {
      for (let j = 0; j < inputs; j++) right[o * kept.length + k]! += weights[o * inputs + j]! * gram[j * inputs + i]!;
    });
  }
  const fitted = solve(factor(small, kept.length)!, right, outputs);
  const rest = weights.slice();
  for (let o = 0; o < outputs; o++) {
    for (const [k, i] of kept.entries()) rest[o * inputs + i]! -= fitted[o * kept.length + k]!;
  }
  return varianceOf({ inputs, outputs, gram, weights: rest }) / varianceOf({ inputs, outputs, gram, weights });
}

describe("removalOrder", () => {
  it.each([
    ["one input a unit", 12, 1],
    ["nine inputs a unit", 6, 9],
    ["two units at a time", 150, 1],
  ])("tells what is missed when the others take over: %s", (_, units, places) => {
    const reader = readerOf(units, places, 5);
    const { order, errors } = removalOrder(units, [reader])!;
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: units }, (_, i) => i));
    for (const gone of [1, Math.floor(units / 2), units - 1]) {
      // The damping of the fit is the difference.
      expect(errors[gone]).toBeCloseTo(missedWith(reader, new Set(order.slice(gone))), 1);
    }
  });

  it("begins with the one that costs least", () => {
    const reader = readerOf(8, 3, 4);
    const { order } = removalOrder(8, [reader])!;
    const costs = Array.from({ length: 8 }, (_, unit) =>
      missedWith(reader, new Set([...Array(8).keys()].filter((u) => u !== unit))),
    );
    expect(costs[order[0]!]).toBeCloseTo(Math.min(...costs), 6);
  });

  it("takes a copy of another unit first, since that one takes over", () => {
    const reader = readerOf(6, 1, 4, 400, (x) => x.map((value, i) => (i === 4 ? x[1]! : value)));
    const { order, errors } = removalOrder(6, [reader])!;
    expect([1, 4]).toContain(order[0]);
    expect(errors[1]).toBeLessThan(0.01);
  });

  it("sums over readers, and leaves inputs of others alone", () => {
    const needs = (unit: number): Reader => {
      const reader = readerOf(5, 1, 3);
      const weights = reader.weights.map((w, i) => (i % 5 === unit ? 20 * w : 0.1 * w));
      return { ...reader, weights, variance: varianceOf({ ...reader, weights }) };
    };
    const alone = readerOf(5, 1, 3);
    const { order } = removalOrder(5, [needs(0), needs(3), { ...alone, unitOf: new Int32Array(5).fill(-1) }])!;
    expect([...order.slice(3)].sort()).toEqual([0, 3]);
  });

  it("stops at as many as are wanted, in the same order", () => {
    const reader = readerOf(40, 2, 6);
    const [all, some] = [removalOrder(40, [reader])!, removalOrder(40, [reader], 12)!];
    expect([...some.order.slice(0, 12)]).toEqual([...all.order.slice(0, 12)]);
    expect([...some.errors.slice(0, 13)]).toEqual([...all.errors.slice(0, 13)]);
    expect([...some.order].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i));
    // What more of them would cost is not known: that much at least.
    expect(some.errors[39]).toBe(some.errors[12]);
    expect([...removalOrder(40, [reader], 0)!.order]).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  it("says where nothing can be told", () => {
    const reader = readerOf(4, 1, 2);
    expect(removalOrder(4, [])).toBeNull();
    expect(removalOrder(4, [{ ...reader, gram: new Float64Array(16) }])).toBeNull();
    expect(removalOrder(4, [{ ...reader, gram: reader.gram.map(() => Number.NaN) }])).toBeNull();
  });
});
