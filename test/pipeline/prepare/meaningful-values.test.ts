import { describe, expect, it } from "vitest";
import { parseModel } from "../../../src/ir/index.js";
import { meaningfulValues } from "../../../src/pipeline/prepare/meaningful-values.js";

const valuesOf = (text: string) => meaningfulValues(parseModel(text));

describe("meaningfulValues", () => {
  it("takes what an input is compared with, and a neighbour for the other answer", () => {
    expect(
      valuesOf(`(rate: i64[], x: f32[2]) -> (y) {
        e = Equal(rate, $sixteen: i64[] = {16000})
        y = Where(e, x, x)
      }`),
    ).toEqual({ rate: [16000, 15999] });
  });

  it("looks through casts and changes of shape", () => {
    expect(
      valuesOf(`(n: i32[1]) -> (y) {
        c = Cast<to=7>(n)
        s = Squeeze(c)
        y = Less(s, $four: i64[] = {4})
      }`),
    ).toEqual({ n: [4, 3, 5] });
  });

  it("stays within the rows of a small table, and leaves large ones alone", () => {
    const lookUp = (rows: number): string => `(i: i64[3]) -> (y) {
      y = Gather($table: f32[${rows},2], i)
    }`;
    expect(valuesOf(lookUp(3))).toEqual({ i: [0, 1, 2] });
    expect(valuesOf(lookUp(100))).toEqual({});
  });

  it("knows nothing of inputs that are only computed with", () => {
    expect(valuesOf("(x: f32[2]) -> (y) {\n  y = Tanh(x)\n}")).toEqual({});
  });
});
