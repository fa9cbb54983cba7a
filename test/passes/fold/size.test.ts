import { describe, expect, it } from "vitest";
import {
  add,
  atom,
  divide,
  isNonNegative,
  keyOf,
  multiply,
  type Size,
  subtract,
} from "../../../src/passes/fold/size.js";

const [n, h] = [atom("n"), atom("h")];
const sum = (a: Size, b: Size): Size => add(a, b)!;
const times = (a: Size, b: Size): Size => multiply(a, b)!;

describe("sizes", () => {
  it("cancel", () => {
    expect(subtract(n, n)).toBe(0);
    expect(divide(times(n, 4), n)).toBe(4);
    expect(keyOf(divide(times(n, times(h, 6)), times(h, 2))!)).toBe(keyOf(times(n, 3)));
  });

  it("are the same however they were made", () => {
    expect(keyOf(sum(times(n, h), 2))).toBe(keyOf(sum(2, times(h, n))));
    expect(keyOf(divide(sum(h, 6), 2)!)).toBe(keyOf(sum(divide(h, 2)!, 3)));
    expect(keyOf(sum(divide(sum(h, -2), 2)!, 1))).toBe(keyOf(divide(h, 2)!));
  });

  it("are divided twice as by the product", () => {
    expect(keyOf(divide(divide(h, 2)!, 3)!)).toBe(keyOf(divide(h, 6)!));
    expect(keyOf(divide(sum(divide(h, 2)!, 1), 2)!)).toBe(keyOf(divide(sum(h, 2), 4)!));
    expect(keyOf(divide(times(divide(h, 2)!, 3), 2)!)).not.toBe(keyOf(divide(times(h, 3), 4)!));
    expect(keyOf(divide(sum(divide(h, 2)!, n), 2)!)).not.toBe(keyOf(divide(sum(h, n), 4)!));
  });

  it("differ where the rounding does", () => {
    expect(keyOf(divide(sum(h, 1), 2)!)).not.toBe(keyOf(divide(h, 2)!));
    expect(keyOf(times(divide(h, 2)!, 2))).not.toBe(keyOf(h));
  });

  it("round numbers down, and nothing that may be negative towards zero", () => {
    expect(divide(7, 2)).toBe(3);
    expect(divide(-7, 2)).toBe(-4);
    expect(divide(subtract(h, n)!, 2, true)).toBeNull();
  });

  it("know when they cannot be negative", () => {
    expect(isNonNegative(sum(n, 3))).toBe(true);
    expect(isNonNegative(subtract(h, n)!)).toBe(false);
    expect(isNonNegative(divide(subtract(h, n)!, 2)!)).toBe(false);
  });

  it("are given up when they get out of hand", () => {
    expect(multiply(2 ** 40, 2 ** 40)).toBeNull();
    const long = Array.from({ length: 13 }, (_, i) => atom(`a${i}`));
    expect(long.reduce<Size | null>((all, each) => (all === null ? null : add(all, each)), 0)).toBeNull();
  });
});
