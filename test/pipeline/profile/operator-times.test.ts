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

  it("says nothing of a candidate that was raced", () => {
    expect(operatorTimes({})).toBeNull();
    expect(operatorTimes({ times: null })).toBeNull();
  });
});
