import { expect, it } from "vitest";
import { summaryOf } from "../../../src/pipeline/fp16/fp16.js";

const slow = { speedup: 0.99, speedupInterval: [0.75, 1.31] } as const;
const kept = { node: "r", op: "Relu", reason: "it overflows" } as never;

it("a file that became smaller and not faster saves size", () => {
  expect(summaryOf({ narrow: 2, float: [] }, slow, true)).toBe(
    "half precision, 0 nodes kept in float32; 0.99x as fast here (0.75 to 1.31): on this provider it saves size, not time",
  );
});

it("one that became larger saves nothing", () => {
  expect(summaryOf({ narrow: 1, float: [] }, slow, false)).toMatch(
    /: on this provider it saves neither size nor time$/,
  );
  expect(summaryOf({ narrow: 1, float: [] }, null, false)).toMatch(/; the file is not smaller$/);
});

it("a model of integers, or of nodes that all overflow, is not called half precision", () => {
  expect(summaryOf({ narrow: 0, float: [] }, slow, false)).toBe(
    "nothing became half precision, 0 nodes kept in float32",
  );
  expect(summaryOf({ narrow: 0, float: [kept] }, slow, true)).toBe(
    "nothing became half precision, 1 node kept in float32",
  );
});
