/** The verdict's limits, and what came before and after in one table. */
import type { RunResult } from "../../../pipeline/result.js";
import { afterOf, beforeOf } from "../../../pipeline/sides.js";
import { limitRows } from "../../limits.js";
import { suggest } from "../../next.js";
import { bytes, change, count, interval, percentileRows, plural, ratio, score, significant } from "../../numbers.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { table, text } from "../table.js";
import { limitBar } from "./limit-bars.js";

export function verdictPanel(result: RunResult, commandLine: string | null): Panel {
  const next = suggest(result, commandLine);
  return {
    id: "verdict",
    title: "Limits and numbers",
    body: [
      limits(result),
      numbers(result),
      ...result.warnings.map((warning) => html`<p><strong class="inconclusive">Warning</strong> ${warning}</p>`),
      ...(next ? [html`<p id="next">Next: ${next.why}</p><pre class="command">${next.command}</pre>`] : []),
    ],
  };
}

function limits(result: RunResult): Markup {
  const rows = limitRows(result);
  if (rows.length === 0) return html`<p class="faint">No limit was declared.</p>`;
  const bars = result.verdict.reasons.map(limitBar);
  const hasBars = bars.some((bar) => bar !== null);
  const lines = rows.map(
    ({ limit, status, text: said }, i) =>
      html`<tr><td>${limit}</td><td class="${status}"><strong>${status}</strong></td>${hasBars ? html`<td class="bar-cell">${bars[i] ?? null}</td>` : null}<td class="note">${said}</td></tr>`,
  );
  return html`<div class="table"><table class="stacked"><caption>Declared limits${hasBars ? "; the line is the limit, the bar the interval of what was measured" : ""}</caption><thead><tr><th scope="col">limit</th><th scope="col">result</th>${hasBars ? html`<th scope="col"></th>` : null}<th scope="col">measured</th></tr></thead><tbody>${lines}</tbody></table></div>`;
}

interface Row {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly note: string;
}

function numbers(result: RunResult): Markup {
  const { accuracy, latency, bench } = result;
  const [model, after] = [beforeOf(result), afterOf(result)];
  const rows: Row[] = [];
  if (accuracy) {
    const { metric, kind, samples, baseline, candidate, delta, deltaInterval, confidence } = accuracy;
    const sure = `${Number((confidence * 100).toPrecision(4))} % interval ${interval(deltaInterval, change)}`;
    const note = `${change(delta)}, ${sure}; ${plural(samples, "sample")}, ${kind}`;
    rows.push({ what: metric, before: score(baseline), after: score(candidate), note });
  }
  // Of models in turns there is a table of their own.
  if (latency && !bench) {
    const { baseline, candidate, speedup, speedupInterval, runs, provider, threads, batch } = latency;
    const where = `${provider}, ${plural(threads, "thread")}, batch ${batch}`;
    const note = `${ratio(speedup)} as fast (${interval(speedupInterval, ratio)}); ${plural(runs, "run")}, ${where}`;
    for (const [i, [what, before, after]] of percentileRows(baseline, candidate).entries()) {
      rows.push({ what, before, after, note: i === 0 ? note : "" });
    }
  }
  if (after) {
    rows.push({
      what: "size",
      before: bytes(model.bytes),
      after: bytes(after.bytes),
      note: sizeText(model.bytes / Math.max(1, after.bytes)),
    });
    rows.push({ what: "nodes", before: count(model.nodes), after: count(after.nodes), note: "" });
  }
  if (rows.length === 0 && bench) return html``;
  if (rows.length === 0) return html`<p>${bytes(model.bytes)}, ${plural(model.nodes, "node")}</p>`;
  const lines = rows.map(
    ({ what, before, after: now, note }) =>
      html`<tr><td>${what}</td><td class="n">${before}</td><td class="n">${now}</td><td class="note">${note}</td></tr>`,
  );
  return html`<div class="table"><table class="stacked"><caption>Before and after</caption><thead><tr><th scope="col"></th><th scope="col" class="n">before</th><th scope="col" class="n">after</th><th scope="col"></th></tr></thead><tbody>${lines}</tbody></table></div>`;
}

function sizeText(times: number): string {
  if (ratio(times) === ratio(1)) return "";
  return times > 1 ? `${ratio(times)} smaller` : `${ratio(1 / times)} larger`;
}

export function differencesPanel({ difference, layers, drift }: RunResult): Panel {
  const body: Markup[] = [];
  const db = (value: number | null): string => (value === null ? "equal" : value.toFixed(1));
  const scientific = (value: number | null): string => {
    if (value === null) return "-";
    return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(2) : significant(value);
  };
  const outputs = (caption: string, rows: typeof difference): Markup =>
    table(caption, rows, [
      text("output", ({ output }) => output),
      { title: "max abs", value: (row) => row.maxAbs, cell: (row) => scientific(row.maxAbs), isNumber: true },
      {
        title: "relative L2",
        value: (row) => row.relativeL2,
        cell: (row) => scientific(row.relativeL2),
        isNumber: true,
      },
      { title: "SQNR dB", value: (row) => row.sqnrDb, cell: (row) => db(row.sqnrDb), isNumber: true },
      { title: "cosine", value: (row) => row.cosine, cell: (row) => row.cosine?.toFixed(5) ?? "-", isNumber: true },
    ]);
  if (difference.length > 0) body.push(outputs("Outputs, before against after", difference));
  if (drift) {
    body.push(outputs("Both as written, the runtime's optimizer off", drift.asWritten));
    body.push(outputs("Before: what the runtime's own optimizer changes", drift.baseline));
    body.push(outputs("After: what the runtime's own optimizer changes", drift.candidate));
  }
  if (layers) {
    const { thresholdDb, first, compared, uncompared, worst } = layers;
    const where = first ? `First below ${thresholdDb} dB: ${first.node} (${first.op})` : `None below ${thresholdDb} dB`;
    body.push(html`<p>${where}; ${count(compared)} compared, ${count(uncompared)} without a namesake.</p>`);
    body.push(
      table("Layers that differ most", worst, [
        text("value", ({ value }) => value),
        text("node", ({ node }) => node),
        text("operator", ({ op }) => op),
        { title: "SQNR dB", value: (row) => row.sqnrDb, cell: (row) => db(row.sqnrDb), isNumber: true },
        { title: "max abs", value: (row) => row.maxAbs, cell: (row) => scientific(row.maxAbs), isNumber: true },
      ]),
    );
  }
  return { id: "difference", title: "Numerical difference", body };
}
