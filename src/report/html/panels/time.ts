/** Where the time goes: by operator and node, before and after where both were looked at. */
import type { OperatorTimesFacts } from "../../../pipeline/profile/operator-times.js";
import type { ModelProfileFacts, ProfileFacts } from "../../../pipeline/profile/profile-facts.js";
import type { PlacementFacts, RunResult } from "../../../pipeline/result.js";
import { boundWord, overPeak } from "../../bound.js";
import { middle } from "../../escape.js";
import { bytes, count, milliseconds, percent, percentOf, plural, significant } from "../../numbers.js";
import { placementNotes, timeShare } from "../../placement.js";
import { profileRemark } from "../../profile-remark.js";
import { familyTimes } from "../../time-table.js";
import { watchedTime } from "../../watched-time.js";
import { areaKey, px } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { folded, number, table, text } from "../table.js";

export function timePanel(result: RunResult): Panel {
  const { profile, placement } = result;
  const body = [
    ...sideBySide(result),
    ...(placement && !profile ? placed(placement, result.operatorTimes) : []),
    ...(profile ? profiled(profile) : []),
  ];
  return { id: "time", title: "Where the time goes", body };
}

type Operator = PlacementFacts["operators"][number];

/** @param times where the chart tells the time already: the operators are a detail then */
function placed(placement: PlacementFacts, times: OperatorTimesFacts | undefined): Markup[] {
  const { runs } = placement;
  const caption = `Operators as the runtime executes them, each node in the quickest of ${runs === undefined ? "its runs" : plural(runs, "run")}`;
  const columns = [
    text<Operator>("operator", ({ op }) => op),
    text<Operator>("provider", ({ provider }) => provider),
    number<Operator>("nodes", ({ nodes }) => nodes, count),
    ...(runs === undefined
      ? []
      : [number<Operator>("ms", ({ durationMs }) => durationMs / Math.max(1, runs), milliseconds)]),
    {
      title: "time",
      value: (row: Operator) => row.durationMs,
      cell: (row: Operator) => timeShare(row.durationMs, placement),
      isNumber: true,
    },
  ];
  return [
    ...placementNotes(placement, times).map(({ title, text: said }) => html`<p><strong>${title}</strong> ${said}</p>`),
    times
      ? folded("Operators as the runtime executes them", caption, placement.operators, columns)
      : table(caption, placement.operators, columns),
  ];
}

function profiled({ models, compared }: ProfileFacts): Markup[] {
  const parts: Markup[] = [];
  if (compared) {
    parts.push(
      folded(
        `${plural(compared.length, "part")} that make the same tensor`,
        "Parts that make the same tensor, before and after",
        compared,
        [
          text("tensor", ({ value }) => value),
          number("nodes before", ({ before }) => before.length, count),
          number("nodes after", ({ after }) => after.length, count),
          number("ms before", ({ beforeMs }) => beforeMs, milliseconds),
          number("ms after", ({ afterMs }) => afterMs, milliseconds),
          number("saved ms", ({ beforeMs, afterMs }) => beforeMs - afterMs, milliseconds),
        ],
      ),
    );
  }
  for (const model of models) parts.push(nodes(model));
  return parts;
}

function nodes(profile: ModelProfileFacts): Markup {
  const { model, nodes: all, nodesMs } = profile;
  const [over, watched] = [overPeak(profile), watchedTime(profile)];
  const shown = table(`Nodes of ${model.path}`, all, [
    text("node", ({ name }) => name),
    text("operator", ({ op }) => op),
    number("ms", ({ ms }) => ms, milliseconds),
    { title: "time", value: (row) => row.ms, cell: (row) => percentOf(row.ms, nodesMs), isNumber: true },
    number("MFLOP", ({ flops }) => (flops === null ? null : flops / 1e6), significant),
    number("moved", ({ bytes: moved }) => moved, bytes),
    number("FLOP/B", ({ intensity }) => intensity, significant),
    text("bound", boundWord),
    number(
      "of peak",
      ({ peakShare }) => peakShare,
      (value) => percent(value, 2),
    ),
  ]);
  return html`<details open><summary>Nodes of ${model.path}</summary>${over === null ? null : html`<p class="faint">Over 100 % of the peak: ${over}.</p>`}${watched === null ? null : html`<p class="faint">Times: ${watched}.</p>`}${shown}</details>`;
}

const ROW = 34;
/** Narrower than other charts: it is read on a telephone too. */
const BARS_WIDTH = 480;
const LABEL = 150;
const VALUE = 60;
const MOST_BARS = 14;

/** Two bars for each kind of operator, the largest change first. */
function sideBySide(result: RunResult): Markup[] {
  const all = familyTimes(result.profile ? { operatorTimes: shares(result.profile) } : result);
  if (!all || all.length === 0) return [];
  const rows = [...all].sort((a, b) => Math.abs(b.beforeMs - b.afterMs) - Math.abs(a.beforeMs - a.afterMs));
  const shown = rows.slice(0, MOST_BARS);
  const longest = Math.max(...shown.flatMap(({ beforeMs, afterMs }) => [beforeMs, afterMs]), Number.MIN_VALUE);
  const wide = (ms: number): number => ((BARS_WIDTH - LABEL - VALUE) * ms) / longest;
  const said = (ms: number, nodes: number): string => (nodes === 0 ? "none" : milliseconds(ms));
  const bars = shown.map(({ family, nodesBefore, nodesAfter, beforeMs, afterMs }, i) => {
    const y = i * ROW;
    const bar = (side: "before" | "after", ms: number, nodes: number, top: number): Markup =>
      html`<rect class="bar ${side}" x="${LABEL}" y="${top}" width="${px(wide(ms))}" height="12"><title>${family} ${side}: ${milliseconds(ms)} ms in ${plural(nodes, "node")}</title></rect><text class="tick" x="${px(LABEL + wide(ms) + 4)}" y="${top + 10}">${said(ms, nodes)}</text>`;
    return html`<text class="axis" x="${LABEL - 8}" y="${y + 20}" text-anchor="end">${middle(family, 19)}</text>${bar("before", beforeMs, nodesBefore, y + 3)}${bar("after", afterMs, nodesAfter, y + 17)}`;
  });
  const sum = (side: "beforeMs" | "afterMs"): number => rows.reduce((total, row) => total + row[side], 0);
  const [before, after] = [sum("beforeMs"), sum("afterMs")];
  const remark = result.profile ? null : profileRemark(result);
  const totals = `${milliseconds(before)} ms in all before, ${milliseconds(after)} ms after, ${milliseconds(before - after)} ms saved`;
  const left = rows.length > shown.length ? html` Those that changed the least are in the table only.` : null;
  return [
    html`<p class="key">${areaKey("bar before", "before")}${areaKey("bar after", "after")}</p><p>Milliseconds of a run in nodes: ${totals}.${left}</p>${remark === null ? null : html`<p>${remark}</p>`}`,
    html`<svg class="bar-chart" viewBox="0 0 ${BARS_WIDTH} ${shown.length * ROW + 4}" role="img" aria-label="Milliseconds by kind of operator; ${totals}.">${bars}</svg>`,
    folded("As a table", "Kinds of operators before and after", rows, [
      text("operators", ({ family }) => family),
      number("nodes before", ({ nodesBefore }) => nodesBefore, count),
      number("nodes after", ({ nodesAfter }) => nodesAfter, count),
      number("ms before", ({ beforeMs }) => beforeMs, milliseconds),
      number("ms after", ({ afterMs }) => afterMs, milliseconds),
      number("saved ms", ({ beforeMs, afterMs }) => beforeMs - afterMs, milliseconds),
    ]),
  ];
}

/** Of both models; nothing where there is but one. */
function shares({ models }: ProfileFacts): OperatorTimesFacts {
  const [before, after] = models;
  return before && after ? { before: before.operators, after: after.operators } : { before: [], after: [] };
}
