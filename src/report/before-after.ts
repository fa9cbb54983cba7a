/** Accuracy, size and sizes of inputs before and after, for a terminal. */
import type { RunResult } from "../pipeline/result.js";
import { afterOf, beforeOf } from "../pipeline/sides.js";
import { middle, printable } from "./escape.js";
import { bytes, change, interval, plural, ratio, score } from "./numbers.js";
import { shapeRows } from "./shapes.js";
import type { Sheet } from "./sheet.js";
import { columns, indented, titled } from "./table.js";

const MOST_SHAPES = 8;

export function accuracyLines({ accuracy }: RunResult, sheet: Sheet): string[] {
  if (!accuracy) return [];
  const kinds = {
    labels: "against labels",
    agreement: "agreement with the float model",
    reference: "agreement with the outputs that came with the data",
    smoke: "smoke test on random inputs: says nothing about accuracy",
  };
  const direction = accuracy.higherIsBetter ? "" : ", lower is better";
  const rows = [
    ["before", score(accuracy.baseline), ""],
    [
      "after",
      score(accuracy.candidate),
      `${change(accuracy.delta)}, ${Number((accuracy.confidence * 100).toPrecision(4))} % interval ${interval(accuracy.deltaInterval, change)}`,
    ],
  ];
  const title = `${printable(accuracy.metric)}, ${plural(accuracy.samples, "sample")}, ${kinds[accuracy.kind]}${direction}`;
  return [...titled("accuracy", title, sheet), ...indented(columns(rows, ["left", "right", "left"]))];
}

export function sizeLines(result: RunResult): string[] {
  const [model, after] = [beforeOf(result), afterOf(result)];
  if (!after) return [];
  const rows = [
    ["before", bytes(model.bytes), plural(model.nodes, "node"), ""],
    ["after", bytes(after.bytes), plural(after.nodes, "node"), smaller(model.bytes, after.bytes)],
  ];
  return ["size", ...indented(columns(rows, ["left", "right", "right", "left"]))];
}

function smaller(before: number, after: number): string {
  if (ratio(before / Math.max(1, after)) === ratio(1)) return "as large as before";
  if (after <= before) return `${ratio(before / Math.max(1, after))} smaller`;
  return `${ratio(after / Math.max(1, before))} larger`;
}

export function fixedSizeLines(result: RunResult, sheet: Sheet): string[] {
  const rows = shapeRows(result);
  if (rows.length === 0) return [];
  const lines = rows.slice(0, MOST_SHAPES).map(({ port, name, before, after }) => {
    const sizes = `${printable(before)} -> ${printable(after)}`;
    return [port, middle(printable(name), 30), middle(sizes, sheet.columns - 45)];
  });
  const left = rows.length - lines.length;
  return [
    "fixed sizes",
    ...indented(columns(lines, ["left", "left", "left"])),
    ...(left > 0 ? [`  and ${left} more in the JSON result`] : []),
  ];
}
