/** Every pass: what it did, what it left and why, what was undone; and what was tried against the errors of integers. */
import type { PassFacts, RunResult } from "../../../pipeline/result.js";
import { type StageTime, stageTimes } from "../../../pipeline/stage-times.js";
import { count, duration, plural, significant } from "../../numbers.js";
import type { Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { type Column, folded, number, table, text } from "../table.js";

export function decisionsPanel({ passes, unfused = [], quantization, stages }: RunResult): Panel {
  const body: Markup[] = [];
  const active = passes.filter(({ applied, rejected }) => applied > 0 || rejected !== undefined);
  if (active.length > 0)
    body.push(table("Passes that changed something, in the order in which they ran", active, passColumns(active)));
  const idle = passes.filter((pass) => !active.includes(pass));
  if (idle.length > 0) {
    const summary = `${plural(idle.length, "pass")} that changed nothing`;
    body.push(folded(summary, "Passes that changed nothing", idle, passColumns(idle)));
  }
  const left = passes.flatMap(({ name, skipped }) => skipped.map((each) => ({ pass: name, ...each })));
  const declined = [...left, ...unfused.map(({ node, pass, reason }) => ({ node, pass: pass ?? "", reason }))];
  if (declined.length > 0) {
    body.push(
      folded(`${plural(declined.length, "node")} left as they were`, "Nodes that passes looked at and left", declined, [
        text("node", ({ node }) => node),
        text("pass", ({ pass }) => pass),
        text("reason", ({ reason }) => reason),
      ]),
    );
  }
  const corrections = quantization?.corrections ?? [];
  if (corrections.length > 0) {
    body.push(
      // Of all samples pooled, the largest answers count most.
      table("Corrections that cost nothing at run time, by SQNR: mean of the samples, and of all pooled", corrections, [
        text("correction", ({ correction }) => correction),
        text("kept", ({ isKept }) => (isKept ? "kept" : "left out")),
        number("mean dB before", ({ beforeDb }) => beforeDb, significant),
        number("mean dB after", ({ afterDb }) => afterDb, significant),
        number("pooled dB before", ({ beforePooledDb }) => beforePooledDb ?? null, significant),
        number("pooled dB after", ({ afterPooledDb }) => afterPooledDb ?? null, significant),
        number("dB gained on samples left out", ({ leftOutGainDb }) => leftOutGainDb ?? null, significant),
        text("about", ({ detail, judgedBy }) => detail + (judgedBy === undefined ? "" : `; dB of ${judgedBy}`)),
      ]),
    );
  }
  if (stages.length > 0) {
    const columns = [
      text<StageTime>("stage", ({ stage }) => stage),
      number<StageTime>("times", ({ times }) => times, count),
      number<StageTime>("time", ({ wallMs }) => wallMs, duration),
    ];
    body.push(table("Stages of the run", stageTimes(stages), columns));
  }
  return { id: "decisions", title: "Decisions", body };
}

const passColumns = (rows: readonly PassFacts[]): readonly Column<PassFacts>[] => [
  text("pass", ({ name }) => name),
  number("applied", ({ applied }) => applied, count),
  number("left", ({ skipped }) => skipped.length, count),
  number(
    "ms",
    ({ durationMs }) => durationMs,
    (ms) => ms.toFixed(1),
  ),
  ...(rows.some(({ rejected }) => rejected !== undefined)
    ? [text<PassFacts>("undone", ({ rejected }) => rejected ?? "")]
    : []),
];
