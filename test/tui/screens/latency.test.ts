import { expect, it } from "vitest";
import { openBook } from "../../../src/tui/book.js";
import { draw } from "../../../src/tui/draw.js";
import { look } from "../../../src/tui/look.js";
import { press, settle } from "../../../src/tui/press.js";
import { firstState } from "../../../src/tui/state.js";
import { sampleResult } from "../../report/sample-result.js";

const size = { columns: 100, rows: 40 };
const style = look(false, true);

/** The screen of a result whose slowest runs before took up to twenty times the median. */
function shown(...keys: readonly string[]): string {
  const { latency } = sampleResult();
  const distribution = {
    at: [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1],
    baselineMs: [10, 10.2, 10.4, 10.6, 10.8, 30, 80, 200],
    candidateMs: [5, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.8],
  };
  const book = openBook(sampleResult({ latency: { ...latency!, distribution } }), "result.json", null);
  let state = settle(book, firstState(book), size, style);
  for (const key of ["3", ...keys]) state = press(key, book, state, size, style).state;
  return draw(book, state, size, style).join("\n");
}

it("gives the tail an end of the axis, and says from where it goes by ratios", () => {
  const text = shown("v");
  expect(text).toMatch(/runs, from 4\.8\d to 204 ms, logarithmic from 11\.7/);
  expect(text).toMatch(/\b6\b.*\b10\b.*\b100\b.*ms/);
});
