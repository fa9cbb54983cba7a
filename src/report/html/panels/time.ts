/** Where the time goes: by operator and node, before and after where both were looked at. */
import type { ModelProfileFacts, ProfileFacts } from "../../../pipeline/profile/profile-facts.js";
import type { PlacementFacts, RunResult } from "../../../pipeline/result.js";
import { bytes, count, milliseconds, percent, percentOf, significant } from "../../numbers.js";
import { placementNotes, timeShare } from "../../placement.js";
import { WIDTH } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table, text } from "../table.js";

export function timePanel({ profile, placement }: RunResult): Panel {
  const body = profile ? profiled(profile) : placement ? placed(placement) : [];
  return { id: "time", title: "Where the time goes", body };
}

function placed(placement: PlacementFacts): Markup[] {
  return [
    ...placementNotes(placement).map(({ title, text: said }) => html`<p><strong>${title}</strong> ${said}</p>`),
    table("Operators as the runtime executes them", placement.operators, [
      text("operator", ({ op }) => op),
      text("provider", ({ provider }) => provider),
      number("nodes", ({ nodes }) => nodes, count),
      number("ms", ({ durationMs }) => durationMs / Math.max(1, placement.runs), milliseconds),
      {
        title: "time",
        value: (row) => row.durationMs,
        cell: (row) => timeShare(row.durationMs, placement),
        isNumber: true,
      },
    ]),
  ];
}

function profiled({ models, compared }: ProfileFacts): Markup[] {
  const [first, second] = models as [ModelProfileFacts, ModelProfileFacts?];
  const parts: Markup[] = [];
  if (second) parts.push(sideBySide(first, second));
  if (second && compared) {
    parts.push(
      table("Parts that make the same tensor, before and after", compared, [
        text("tensor", ({ value }) => value),
        number("nodes before", ({ before }) => before.length, count),
        number("nodes after", ({ after }) => after.length, count),
        number("ms before", ({ beforeMs }) => beforeMs, milliseconds),
        number("ms after", ({ afterMs }) => afterMs, milliseconds),
        number("saved ms", ({ beforeMs, afterMs }) => beforeMs - afterMs, milliseconds),
      ]),
    );
  }
  for (const model of models) parts.push(nodes(model));
  return parts;
}

function nodes({ model, nodes: all, nodesMs }: ModelProfileFacts): Markup {
  const shown = table(`Nodes of ${model.path}`, all, [
    text("node", ({ name }) => name),
    text("operator", ({ op }) => op),
    number("ms", ({ ms }) => ms, milliseconds),
    { title: "time", value: (row) => row.ms, cell: (row) => percentOf(row.ms, nodesMs), isNumber: true },
    number("MFLOP", ({ flops }) => (flops === null ? null : flops / 1e6), significant),
    number("moved", ({ bytes: moved }) => moved, bytes),
    number("FLOP/B", ({ intensity }) => intensity, significant),
    { title: "bound", value: ({ bound }) => bound, cell: ({ bound }) => bound ?? "-" },
    number(
      "of peak",
      ({ peakShare }) => peakShare,
      (value) => percent(value, 2),
    ),
  ]);
  return html`<details open><summary>Nodes of ${model.path}</summary>${shown}</details>`;
}

interface Operator {
  readonly op: string;
  readonly before: number;
  readonly after: number;
}

const ROW = 34;
const LABEL = 170;
const VALUE = 60;
const MOST_BARS = 14;

/** Two bars an operator, the largest change first. */
function sideBySide(before: ModelProfileFacts, after: ModelProfileFacts): Markup {
  const total = ({ operators }: ModelProfileFacts, op: string): number =>
    operators.filter((each) => each.op === op).reduce((sum, { ms }) => sum + ms, 0);
  const names = [...new Set([...before.operators, ...after.operators].map(({ op }) => op))];
  const rows = names
    .map((op): Operator => ({ op, before: total(before, op), after: total(after, op) }))
    .sort((a, b) => Math.abs(b.before - b.after) - Math.abs(a.before - a.after));
  const shown = rows.slice(0, MOST_BARS);
  const longest = Math.max(...shown.flatMap((row) => [row.before, row.after]), Number.MIN_VALUE);
  const wide = (ms: number): string => (((WIDTH - LABEL - VALUE) * ms) / longest).toFixed(1);
  const bars = shown.map(({ op, before: old, after: now }, i) => {
    const y = i * ROW;
    return html`<text class="axis" x="${LABEL - 8}" y="${y + 20}" text-anchor="end">${op.length > 24 ? `${op.slice(0, 23)}…` : op}</text><rect class="bar before" x="${LABEL}" y="${y + 3}" width="${wide(old)}" height="12"><title>${op} before: ${milliseconds(old)} ms</title></rect><rect class="bar after" x="${LABEL}" y="${y + 17}" width="${wide(now)}" height="12"><title>${op} after: ${milliseconds(now)} ms</title></rect><text class="tick" x="${LABEL + Number(wide(old)) + 4}" y="${y + 13}">${milliseconds(old)}</text><text class="tick" x="${LABEL + Number(wide(now)) + 4}" y="${y + 27}">${milliseconds(now)}</text>`;
  });
  const description = `Milliseconds by operator before and after; ${milliseconds(before.nodesMs)} in all before, ${milliseconds(after.nodesMs)} after.`;
  return html`<div class="wide"><svg viewBox="0 0 ${WIDTH} ${shown.length * ROW + 4}" role="img" aria-label="${description}">${bars}</svg></div><p class="key"><span>upper bar: before</span><span>lower bar: after</span></p>${table(
    "Operators before and after",
    rows,
    [
      text("operator", ({ op }) => op),
      number("ms before", (row) => row.before, milliseconds),
      number("ms after", (row) => row.after, milliseconds),
      number("saved ms", (row) => row.before - row.after, milliseconds),
    ],
  )}`;
}
