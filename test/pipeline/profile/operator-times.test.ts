import { describe, expect, it } from "vitest";
import { operatorTimes } from "../../../src/pipeline/profile/operator-times.js";

describe("operatorTimes", () => {
  it("sums nodes of one operator, the most time first", () => {
    const own = [
      { name: "a", op: "QLinearConv", ms: 0.25 },
      { name: "b", op: "Gemm", ms: 1 },
      { name: "c", op: "QLinearConv", ms: 0.5 },
    ];
    expect(operatorTimes({ times: { float: [{ name: "a", op: "Conv", ms: 2 }], own } })).toEqual({
      before: [{ op: "Conv", nodes: 1, ms: 2 }],
      after: [
        { op: "Gemm", nodes: 1, ms: 1 },
        { op: "QLinearConv", nodes: 2, ms: 0.75 },
      ],
    });
  });

  it("is beside the original where that was profiled, with the candidate or by itself", () => {
    const one = (ms: number) => [{ name: "a", op: "Conv", ms }];
    const beforeMs = (...given: Parameters<typeof operatorTimes>) => operatorTimes(...given)!.before[0]!.ms;
    const times = { float: one(2), own: one(1) };
    expect(beforeMs({ times: { ...times, original: one(3) } }, one(4), one(1))).toBe(3);
    expect(beforeMs({ times }, one(4), one(1))).toBe(4);
    expect(beforeMs({ times }, one(4))).toBe(2);
  });

  it("says nothing of a candidate that was raced", () => {
    expect(operatorTimes({})).toBeNull();
    expect(operatorTimes({ times: null })).toBeNull();
  });
});
