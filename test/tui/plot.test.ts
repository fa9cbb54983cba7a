import { describe, expect, it } from "vitest";
import { look } from "../../src/tui/look.js";
import { plot } from "../../src/tui/plot.js";

const range = { low: 0, high: 10, isLogarithmic: false };

function drawn(points: readonly (readonly [number, number])[]): string {
  const series = [{ points, kind: "curve", mark: "o", paint: (text: string) => text }] as const;
  const axes = { x: range, y: range, xTitle: "x", showY: String };
  return plot({ width: 40, height: 12, ...axes, series, look: look(false, false) }).join("\n");
}

describe("plot", () => {
  it("draws the part of a way that is on it, however far its ends are away", () => {
    const through = drawn([
      [-1e15, 5],
      [1e15, 5],
    ]);
    const across = drawn([
      [0, 5],
      [10, 5],
    ]);
    expect(through).toBe(across);
    expect(through.match(/o/g)!.length).toBeGreaterThan(20);
  });

  it.each([
    [
      "beside it",
      [
        [0, 1e300],
        [10, 1e300],
      ],
    ],
    [
      "past a corner of it",
      [
        [-1e9, 5],
        [5, -1e12],
      ],
    ],
    [
      "from nowhere",
      [
        [Number.NaN, 5],
        [5, 5],
      ],
    ],
    [
      "without end",
      [
        [Number.NEGATIVE_INFINITY, 5],
        [Number.POSITIVE_INFINITY, 5],
      ],
    ],
  ] as const)("leaves a way out that goes %s", (_, points) => {
    expect(drawn(points).match(/o/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});
