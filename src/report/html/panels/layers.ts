/** What became of each layer: integers or float, what it saves, what it costs in accuracy, and why. */
import type { RunResult } from "../../../pipeline/result.js";
import { count, milliseconds, plural, significant } from "../../numbers.js";
import { byReason } from "../../reasons.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table, text } from "../table.js";

export function layersPanel({ quantization, precision }: RunResult): Panel {
  const body: Markup[] = [];
  if (quantization) {
    const { mode, bits, method, nodes, why, notes, calibration } = quantization;
    const with_ = calibration ? `, ${plural(calibration.samples, "calibration sample")}` : "";
    body.push(
      html`<p>${mode} INT${bits ?? 8}${method ? ` (${method} ranges)` : ""}, ${plural(nodes, "node")} on integers${with_}. ${why}</p>`,
    );
    body.push(...notes.map((note) => html`<p class="faint">${note}</p>`));
    if (quantization.regions?.length) {
      body.push(
        table("Regions: a node with weights and what goes with it", quantization.regions, [
          text("region", ({ region }) => region),
          text("form", ({ form }) => form),
          number("nodes", ({ nodes: all }) => all.length, count),
          number("ms float", ({ beforeMs }) => beforeMs, milliseconds),
          number("ms integers", ({ afterMs }) => afterMs, milliseconds),
          number("saved ms", ({ beforeMs, afterMs }) => beforeMs - afterMs, milliseconds),
          number("SQNR dB alone", ({ sqnrDb }) => sqnrDb, significant),
          text("why float", ({ reason }) => reason),
        ]),
      );
    }
  }
  if (precision)
    body.push(html`<p>${precision.target}</p>`, ...precision.notes.map((note) => html`<p class="faint">${note}</p>`));
  const float = [...(quantization?.float ?? []), ...(precision?.float ?? [])];
  if (float.length > 0) {
    const groups = byReason(float).map(
      ({ reason, nodes }) => html`<li>${plural(nodes.length, "node")}: ${reason}</li>`,
    );
    body.push(html`<h3>Kept in float: ${count(float.length)}</h3><ul>${groups}</ul>`);
    body.push(
      table("Nodes kept in float", float, [
        text("node", ({ node }) => node),
        text("operator", ({ op }) => op),
        text("reason", ({ reason }) => reason),
      ]),
    );
  }
  return { id: "layers", title: "Layers", body };
}
