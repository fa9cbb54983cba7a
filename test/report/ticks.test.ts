import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundNumbers, roundRatios, tickText } from "../../src/report/ticks.js";

describe("roundNumbers", () => {
  it.each([
    [0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0.1, 0.4, 3, [0.1, 0.2, 0.3, 0.4]],
    [-7, 12, 4, [-5, 0, 5, 10]],
    [3, 3, 4, [3]],
  ])("from %d to %d, about %d", (low, high, most, expected) => expect(roundNumbers(low, high, most)).toEqual(expected));

  it("lie within the range, and are no more than there is room for", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e6, max: 1e6, noNaN: true }),
        fc.double({ min: 1e-3, max: 1e6, noNaN: true }),
        fc.integer({ min: 2, max: 20 }),
        (low, span, most) => {
          const found = roundNumbers(low, low + span, most);
          expect(found.length).toBeLessThanOrEqual(most + 1);
          for (const tick of found) {
            expect(tick).toBeGreaterThanOrEqual(low - 1e-6 * span);
            expect(tick).toBeLessThanOrEqual(low + span * (1 + 1e-6));
          }
        },
      ),
    );
  });
});

describe("roundRatios", () => {
  it.each([
    [0.02, 3, 7, [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2]],
    [3, 9, 4, [3, 5, 7]],
    [1, 1000, 4, [1, 10, 100, 1000]],
    [1e-3, 1e3, 4, [0.01, 1, 100]],
  ])("from %d to %d, at most %d", (low, high, most, expected) =>
    expect(roundRatios(low, high, most)).toEqual(expected),
  );

  it("lie within the range, rise, and are no more than there is room for", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
        fc.double({ min: 1, max: 1e9, noNaN: true }),
        fc.integer({ min: 1, max: 20 }),
        (low, factor, most) => {
          const found = roundRatios(low, low * factor, most);
          expect(found.length).toBeLessThanOrEqual(most);
          for (const [i, tick] of found.entries()) {
            expect(tick).toBeGreaterThanOrEqual(found[i - 1] ?? low);
            expect(tick).toBeLessThanOrEqual(low * factor);
          }
        },
      ),
    );
  });
});

it.each([
  [0.30000000000000004, "0.3"],
  [10, "10"],
  [2.5, "2.5"],
  [1200, "1,200"],
  [0, "0"],
])("%d is written %s", (tick, text) => expect(tickText(tick)).toBe(text));
