import { expect, it } from "vitest";
import { bytes, change, count, duration, milliseconds, plural, score, significant } from "../../src/report/numbers.js";

it.each([
  [0, "0"],
  [0.012345, "0.0123"],
  [1.234, "1.23"],
  [24.31, "24.3"],
  [999.9, "1,000"],
  [1234.5, "1,235"],
  [1234567, "1,234,567"],
  [-1234.5, "-1,235"],
  [1.5e-9, "1.50e-9"],
  [Number.POSITIVE_INFINITY, "inf"],
  [null, "-"],
])("shows %s with three significant digits as %s", (value, text) => expect(significant(value)).toBe(text));

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.00 kB"],
  [999_600, "1.00 MB"],
  [25_700_000, "25.7 MB"],
  [3_060_000_000, "3.06 GB"],
])("shows %s bytes as %s", (value, text) => expect(bytes(value)).toBe(text));

it("shows what could not be measured as a dash", () => expect(milliseconds(null)).toBe("-"));
it("shows what is left of a difference of equal times as none", () => {
  expect([0.1 + 0.2 - 0.3, -6.94e-18, 2e-6].map(milliseconds)).toEqual(["0", "0", "0.00000200"]);
});
it("groups thousands", () => expect(count(1_234_567)).toBe("1,234,567"));
it("gives scores in -1..1 four decimals and others four digits", () => {
  expect([score(0.99401), score(31.237), score(-1)]).toEqual(["0.9940", "31.24", "-1.0000"]);
});
it("gives a gain its sign", () => expect([change(0.01), change(-0.01)]).toEqual(["+0.0100", "-0.0100"]));
it.each([
  [850, "850 ms"],
  [4200, "4.2 s"],
  [42_000, "42 s"],
  [59_700, "1 min 0 s"],
  [200_000, "3 min 20 s"],
])("shows %s ms as %s", (ms, text) => expect(duration(ms)).toBe(text));
it("counts one thing and many", () =>
  expect([plural(1, "node"), plural(2000, "node")]).toEqual(["1 node", "2,000 nodes"]));

it("leaves rounding out of scores and their changes", () => {
  expect([score(-1.9e-13), change(-1.9e-13), change(1.9e-13)]).toEqual(["0.0000", "0.0000", "0.0000"]);
  expect([score(1.0000001), score(-0.0123), change(0.0123)]).toEqual(["1.0000", "-0.0123", "+0.0123"]);
});
