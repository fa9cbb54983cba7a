/** Every layer: what it computes in, what it took before and takes now, what it costs in accuracy, and why it is float. */
import type { GraphFacts } from "../../../pipeline/inspect/graph-facts.js";
import type { RunResult } from "../../../pipeline/result.js";
import { nodesText } from "../../forms-text.js";
import { isConversion } from "../../graph-boxes.js";
import { keptFloat } from "../../kept-float.js";
import { type LayerRow, layerRows } from "../../layer-rows.js";
import { isInteger } from "../../losses.js";
import { bytes, count, milliseconds, plural, significant } from "../../numbers.js";
import { byReason } from "../../reasons.js";
import { excludeCommand } from "../../reproduce.js";
import { readersOfConversions } from "../../weight-groups.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { type Column, folded, number, table, text } from "../table.js";

export function layersPanel(result: RunResult, commandLine: string | null): Panel {
  const body = [
    ...quantized(result),
    ...half(result),
    ...keptInFloat(result),
    ...all(result, commandLine),
    ...regions(result),
  ];
  return { id: "layers", title: "Layers", body };
}

function quantized({ quantization }: RunResult): Markup[] {
  if (!quantization) return [];
  const { mode, bits, method, why, notes, calibration } = quantization;
  const with_ = calibration ? `, ${plural(calibration.samples, "calibration sample")}` : "";
  return [
    html`<p>${mode} INT${bits ?? 8}${method ? ` (${method} ranges)` : ""}, ${nodesText(quantization)}${with_}. ${why}</p>`,
    ...notes.map((note) => html`<p class="faint">${note}</p>`),
  ];
}

const half = ({ precision }: RunResult): Markup[] =>
  precision
    ? [
        html`<p>${precision.target === "f16" ? "float16" : "bfloat16"}, ${plural(precision.float.length, "node")} kept in float32</p>`,
        ...precision.notes.map((note) => html`<p class="faint">${note}</p>`),
      ]
    : [];

function keptInFloat(result: RunResult): Markup[] {
  const float = keptFloat(result);
  if (float.length === 0) return [];
  const groups = byReason(float).map(({ reason, nodes }) => html`<li>${plural(nodes.length, "node")}: ${reason}</li>`);
  return [html`<h3>Kept in float: ${count(float.length)}</h3><ul>${groups}</ul>`];
}

/** Conversions are part of what they convert, as the runtime makes them part of its kernels, and so are the weights behind them. */
function withoutConversions(rows: readonly LayerRow[], graph: GraphFacts | null): LayerRow[] {
  const behind = new Map<string, number>();
  const readerOf = graph && readersOfConversions(graph);
  for (const [at, op] of (graph?.ops ?? []).entries()) {
    const reader = graph!.nodes[readerOf!(at)]!;
    if (isConversion(op)) behind.set(reader, (behind.get(reader) ?? 0) + graph!.weightBytes[at]!);
  }
  return rows.flatMap((row) =>
    isConversion(row.op)
      ? []
      : { ...row, weightBytes: row.weightBytes === null ? null : row.weightBytes + (behind.get(row.node) ?? 0) },
  );
}

function all(result: RunResult, commandLine: string | null): Markup[] {
  const rows = withoutConversions(layerRows(result), result.graphs?.after ?? result.graphs?.before ?? null);
  if (!rows.some(isTold)) return [];
  const has = (of: (row: LayerRow) => unknown): boolean => rows.some((row) => of(row) !== null && of(row) !== "");
  const isPair = has(({ afterMs }) => afterMs);
  const isRunElsewhere = new Set(rows.map(({ provider }) => provider).filter((provider) => provider !== "")).size > 1;
  const columns: readonly (Column<LayerRow> | null)[] = [
    text("layer", ({ node }) => node),
    text("operator", ({ op }) => op),
    has(({ precision }) => precision) ? text("computes in", ({ precision }) => precision) : null,
    isRunElsewhere ? text("runs on", ({ provider }) => provider) : null,
    has(({ beforeMs }) => beforeMs)
      ? number(isPair ? "ms before" : "ms", ({ beforeMs }) => beforeMs, milliseconds)
      : null,
    isPair ? number("ms after", ({ afterMs }) => afterMs, milliseconds) : null,
    has(({ savedMs }) => savedMs) ? number("saved ms", ({ savedMs }) => savedMs, milliseconds) : null,
    has(({ sqnrDb }) => sqnrDb) ? number("SQNR dB", ({ sqnrDb }) => sqnrDb, significant) : null,
    has(({ weightBytes }) => weightBytes) ? number("weights", ({ weightBytes }) => weightBytes || null, bytes) : null,
    has(({ reason }) => reason) ? text("why float", ({ reason }) => reason) : null,
  ];
  const shown = table(
    "Layers in execution order",
    rows,
    columns.flatMap((column) => column ?? []),
  );
  const isMaking = result.command === "quantize" || result.command === "optimize";
  if (!isMaking || !rows.some(isInteger)) return [shown];
  // What is marked there is put behind it by the script.
  const command = excludeCommand(result, [], commandLine);
  return [
    html`<p class="faint marking" hidden>Layers on integers can be marked: the command that keeps them in float stands below the table.</p>`,
    html`<div class="markable" data-command="${command}">${shown}<div class="marked" hidden><p></p><pre class="command"></pre></div></div>`,
  ];
}

/** Names and operators alone are what the graph tells better. */
const isTold = ({ beforeMs, afterMs, sqnrDb, reason }: LayerRow): boolean =>
  beforeMs !== null || afterMs !== null || sqnrDb !== null || reason !== "";

function regions({ quantization }: RunResult): Markup[] {
  const found = quantization?.regions ?? [];
  if (found.length === 0) return [];
  return [
    folded(
      `What was expected of integers: ${plural(found.length, "region")}`,
      "Regions: a node with weights and what goes with it",
      found,
      [
        text("region", ({ region }) => region),
        text("form", ({ form }) => form),
        number("nodes", ({ nodes }) => nodes.length, count),
        number("ms float", ({ beforeMs }) => beforeMs, milliseconds),
        number("ms integers", ({ afterMs }) => afterMs, milliseconds),
        number("saved ms", ({ beforeMs, afterMs }) => beforeMs - afterMs, milliseconds),
        number("SQNR dB alone", ({ sqnrDb }) => sqnrDb, significant),
        text("why float", ({ reason }) => reason),
      ],
    ),
  ];
}
