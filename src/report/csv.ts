/** Layers as a table for a spreadsheet: RFC 4180, one row a layer. */
import type { RunResult } from "../pipeline/result.js";
import { printable } from "./escape.js";
import { type LayerRow, layerRows } from "./layer-rows.js";

const columns: readonly (readonly [title: string, of: (row: LayerRow) => string | number | null])[] = [
  ["node", ({ node }) => node],
  ["operator", ({ op }) => op],
  ["precision", ({ precision }) => precision],
  ["before_ms", ({ beforeMs }) => beforeMs],
  ["after_ms", ({ afterMs }) => afterMs],
  ["saved_ms", ({ savedMs }) => savedMs],
  ["sqnr_db", ({ sqnrDb }) => sqnrDb],
  ["weight_bytes", ({ weightBytes }) => weightBytes],
  ["reason", ({ reason }) => reason],
  ["provider", ({ provider }) => provider],
];

export function renderLayersCsv(result: RunResult): string {
  const rows = layerRows(result).map((row) => columns.map(([, of]) => cell(of(row))).join(","));
  return `${[columns.map(([title]) => title).join(","), ...rows].join("\r\n")}\r\n`;
}

/** A text that a spreadsheet would take for a formula is told as text; quotes are doubled. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = printable(value);
  const told = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",]/.test(told) ? `"${told.replaceAll('"', '""')}"` : told;
}
