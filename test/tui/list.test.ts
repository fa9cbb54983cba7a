import { expect, it } from "vitest";
import { list } from "../../src/tui/list.js";
import { look } from "../../src/tui/look.js";

it("tells names apart that begin and end alike, and by the same words when rows move", () => {
  const rows = [10, 11, 12].map((layer) => `/net/blocks/layer.${layer}/convolution/convolution/Conv`);
  const shown = (top: number): string[] =>
    list(
      rows,
      [{ title: "layer", cell: (row) => row, rank: 0, least: 8 }],
      { cursor: 1, top },
      { width: 22, height: 3, look: look(false, true) },
    ).map((line) => line.trim());
  expect(shown(0)).toEqual(["layer", ".../layer.10/...", "> .../layer.11/..."]);
  expect(shown(1)).toEqual(["layer", "> .../layer.11/...", ".../layer.12/..."]);
});
