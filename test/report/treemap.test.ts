import fc from "fast-check";
import { expect, it } from "vitest";
import { treemap } from "../../src/report/treemap.js";

it("gives each weight its share of the area, without overlap", () => {
  const area = { x: 0, y: 0, width: 300, height: 100 };
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 30 }), (given) => {
      const weights = [...given].sort((a, b) => b - a);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const places = treemap(weights, area);
      for (const [i, { x, y, width, height }] of places.entries()) {
        expect((width * height) / 30_000).toBeCloseTo(weights[i]! / total, 6);
        expect(x + width).toBeLessThan(300.001);
        expect(y + height).toBeLessThan(100.001);
        for (const other of places.slice(i + 1)) {
          const across = Math.min(x + width, other.x + other.width) - Math.max(x, other.x);
          const down = Math.min(y + height, other.y + other.height) - Math.max(y, other.y);
          expect(Math.min(across, down)).toBeLessThan(1e-6);
        }
      }
    }),
    { numRuns: 60, seed: 2 },
  );
});
