/** What pruning left: groups of channels by width, layers that were fitted, zeros, and the files that no other one exceeds. */
import type { RunResult } from "../../../pipeline/result.js";
import { bytes, count, percent, plural, ratio, score } from "../../numbers.js";
import { byReason } from "../../reasons.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { folded, number, table, text } from "../table.js";

export function pruningPanel(result: RunResult): Panel {
  return { id: "pruning", title: "Pruning", body: [...narrowed(result), ...files(result)] };
}

function narrowed({ pruning }: RunResult): Markup[] {
  if (!pruning) return [];
  const { groups, fitted, unfitted, sparsity } = pruning;
  const body: Markup[] = [];
  if (sparsity) {
    const { weights, zeros, layers, compressedBytes } = sparsity;
    const share = percent(zeros / Math.max(1, weights), 3);
    body.push(
      html`<p>${count(zeros)} of ${plural(weights, "weight")} are 0 (${share}), in ${plural(layers, "layer")}; compressed ${bytes(compressedBytes.before)} before, ${bytes(compressedBytes.after)} after.</p>`,
    );
  }
  const less = groups.filter(({ width, kept }) => kept < width);
  if (less.length > 0) {
    body.push(
      table("Groups of channels that are narrower now", less, [
        text("made by", ({ group }) => group),
        text("kind", ({ kind }) => kind),
        number("before", ({ width }) => width, count),
        number("after", ({ kept }) => kept, count),
        number("kept", ({ width, kept }) => kept / Math.max(1, width), percent),
      ]),
    );
  }
  const rest = groups.filter(({ width, kept }) => kept >= width);
  if (rest.length > 0) {
    body.push(
      folded(`${plural(rest.length, "group")} as wide as before`, "Groups of channels that keep their width", rest, [
        text("made by", ({ group }) => group),
        number("width", ({ width }) => width, count),
        text("why", ({ frozen }) => frozen ?? ""),
      ]),
    );
  }
  if (fitted.length > 0) {
    body.push(
      folded(
        `${plural(fitted.length, "layer")} fitted to what is left`,
        "Share of what a layer should make that it misses on other samples",
        fitted,
        [
          text("layer", ({ node }) => node),
          number(
            "before",
            ({ before }) => before ?? null,
            (value) => percent(value, 3),
          ),
          number(
            "after",
            ({ after }) => after ?? null,
            (value) => percent(value, 3),
          ),
        ],
      ),
    );
  }
  const reasons = byReason(unfitted).map(
    ({ reason, nodes }) => html`<li>${plural(nodes.length, "layer")}: ${reason}</li>`,
  );
  if (reasons.length > 0) body.push(html`<p>As they were:</p><ul>${reasons}</ul>`);
  return body;
}

function files({ pareto, pruning }: RunResult): Markup[] {
  const entries = pareto ?? [];
  if (entries.length > 0) {
    const commands = entries.map(
      ({ name, commands: own }) =>
        html`<p>${name}</p>${own.map((command) => html`<pre class="command">${command}</pre>`)}`,
    );
    return [
      table("Files that no other one exceeds in speed, accuracy and size", entries, [
        { title: "file", value: ({ name }) => name, cell: ({ name }) => name, isMarked: ({ chosen }) => chosen },
        number("speed", ({ speedup }) => speedup, ratio),
        number("accuracy", ({ accuracy }) => accuracy, score),
        number("size", ({ bytes: size }) => size, bytes),
        text("limits", ({ meetsLimits }) => (meetsLimits ? "met" : "missed")),
      ]),
      html`<details><summary>Made again by</summary>${commands}</details>`,
    ];
  }
  const nets = pruning?.pareto ?? [];
  if (nets.length < 2) return [];
  return [
    table("Nets that no other one exceeds in speed, accuracy and size", nets, [
      text("net", ({ name }) => name),
      number("speed", ({ speedup }) => speedup, ratio),
      number("accuracy", ({ accuracy }) => accuracy, score),
      number("size", ({ bytes: size }) => size, bytes),
    ]),
  ];
}
