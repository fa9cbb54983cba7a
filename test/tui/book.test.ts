import { expect, it } from "vitest";
import { decisionsShown, layersShown, openBook } from "../../src/tui/book.js";
import { graphResult } from "../report/graph-result.js";

it("gives the same rows until another order or filter is asked for", () => {
  const [one, other] = [openBook(graphResult(), "a.json", null), openBook(graphResult("alien"), "b.json", null)];
  const rows = layersShown(one, "time", "");
  expect(rows.length).toBeGreaterThan(0);
  expect(layersShown(one, "time", "")).toBe(rows);
  expect(layersShown(other, "time", "")).not.toEqual(rows);
  expect(layersShown(one, "time", "no such layer")).toEqual([]);
  expect(layersShown(one, "time", "")).toEqual(rows);
  expect(decisionsShown(one, "")).toBe(decisionsShown(one, ""));
  expect(decisionsShown(one, "no such pass")).toEqual([]);
});
