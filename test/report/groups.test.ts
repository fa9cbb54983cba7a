import { expect, it } from "vitest";
import type { ShownGroup } from "../../src/pipeline/explain/show-groups.js";
import { renderGroups } from "../../src/report/groups.js";
import { palette } from "../../src/report/palette.js";

const group = (facts: Partial<ShownGroup>): ShownGroup => ({
  ...{ name: "conv1", kind: "channels", width: 64, unitSize: 1, frozen: null, widths: [64, 48, 32, 16, 12, 8, 4] },
  ...{ producers: ["conv1", "shortcut"], consumers: ["conv2"], followers: ["conv1"] },
  ...facts,
});

it("lists what can be narrowed with its steps, and what stays with the reason", () => {
  const text = renderGroups(
    {
      model: { path: "net.onnx" },
      block: 16,
      groups: [
        group({}),
        group({ name: "query", kind: "heads", width: 3, unitSize: 32, producers: ["query"], widths: [3, 2, 1] }),
        group({ name: "head\u001b[31m", width: 10, frozen: "it is the model's output logits" }),
      ],
      notes: [],
    },
    palette(false),
  );
  expect(text).toBe(` net.onnx
 3 groups, 2 of which can be narrowed; convolutions work on 16 channels at once

 can be narrowed
   made by  width               made and read by  steps
   conv1       64  channels     2 nodes to 1      48, 32, 16, ...
   query        3  heads of 32  1 node to 1       2, 1

 stay as they are
   10 channels of head\\x1b[31m
       it is the model's output logits
`);
});

it("tells groups apart whose long names differ in the middle", () => {
  const names = [2, 4].map((block) => `/features/features.${block}/first/first.0/Conv`);
  const shown = { model: { path: "net.onnx" }, block: 16, groups: names.map((name) => group({ name })), notes: [] };
  const rows = renderGroups(shown, palette(false))
    .split("\n")
    .filter((line) => line.includes("  channels "));
  expect(rows.map((row) => row.trim().split(/\s/)[0])).toEqual([
    ".../features.2/first/first.0/Conv",
    ".../features.4/first/first.0/Conv",
  ]);
});
