import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { layOut } from "../../../src/report/html/layered-layout.js";

const size = { boxWidth: 100, boxHeight: 30, gapX: 10, gapY: 20 };

/** Each box reads some of those before it. */
const graphs = fc
  .array(fc.array(fc.nat(1000), { maxLength: 3 }), { minLength: 1, maxLength: 40 })
  .map((all) => all.map((from, i) => (i === 0 ? [] : [...new Set(from.map((at) => at % i))])));

describe("layOut", () => {
  it("keeps boxes apart and within the drawing, and every edge goes down from what is read to the reader", () => {
    fc.assert(
      fc.property(graphs, (reads) => {
        const { boxes, edges, width, height } = layOut(reads, size);
        for (const [i, a] of boxes.entries()) {
          expect(a.x).toBeGreaterThanOrEqual(size.boxWidth / 2 - 0.01);
          expect(a.x).toBeLessThanOrEqual(width - size.boxWidth / 2 + 0.01);
          expect(a.y).toBeLessThanOrEqual(height);
          for (const b of boxes.slice(i + 1)) {
            if (a.y === b.y) expect(Math.abs(a.x - b.x)).toBeGreaterThan(size.boxWidth);
          }
        }
        let edge = 0;
        for (const [box, from] of reads.entries()) {
          for (const source of from) {
            const points = edges[edge++]!;
            expect(points[0]).toEqual([boxes[source]!.x, boxes[source]!.y + size.boxHeight / 2]);
            expect(points.at(-1)).toEqual([boxes[box]!.x, boxes[box]!.y - size.boxHeight / 2]);
            for (const [i, [, y]] of points.entries()) if (i > 0) expect(y).toBeGreaterThan(points[i - 1]![1]);
          }
        }
      }),
      { numRuns: 60, seed: 4 },
    );
  });

  it("draws a chain as a straight line", () => {
    const { boxes } = layOut([[], [0], [1], [2]], size);
    expect(new Set(boxes.map(({ x }) => x)).size).toBe(1);
  });
});
