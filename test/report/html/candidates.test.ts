import { describe, expect, it } from "vitest";
import { front } from "../../../src/report/html/panels/candidates.js";
import { sampleResult } from "../sample-result.js";

const [candidate] = sampleResult().candidates;
const point = (speed: number, value: number) => ({ candidate: candidate!, speed, value });

describe("front", () => {
  const points = [point(1, 0.99), point(2, 0.98), point(1.5, 0.97), point(3, 0.9), point(3, 0.9), point(2, 0.95)];

  it("keeps what no other beats, equal ones too, by speed", () => {
    expect(front(points, true).map(({ speed, value }) => [speed, value])).toEqual([
      [1, 0.99],
      [2, 0.98],
      [3, 0.9],
      [3, 0.9],
    ]);
  });

  it("takes less for better where the metric says so", () => {
    expect(front([point(1, 0.1), point(2, 0.3), point(1.5, 0.4)], false).map(({ speed }) => speed)).toEqual([1, 2]);
  });
});
