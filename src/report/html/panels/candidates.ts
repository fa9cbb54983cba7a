/** Every candidate that was measured: accuracy against speed, and which ones no other beats on both. */
import type { RunResult } from "../../../pipeline/result.js";
import { bytes, count, plural, ratio, score, significant } from "../../numbers.js";
import { type CandidatePoint, candidatePoints, worthOf } from "../../pareto.js";
import { axesFor, BOTTOM, chart, line, px, TOP } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table, text } from "../table.js";

export function candidatesPanel(result: RunResult): Panel {
  const { candidates } = result;
  if (candidates.length === 0) return { id: "candidates", title: "Candidates", body: [] };
  const points = candidatePoints(result).flatMap(({ candidate, speed, worth, isBest }): Point[] =>
    speed === null || worth === null ? [] : [{ candidate, speed, worth, isBest }],
  );
  return {
    id: "candidates",
    title: "Candidates",
    body: [
      ...(points.length > 1 ? [pareto(points, worthOf(result).isMetric ? "accuracy" : "SQNR, dB")] : []),
      table(`${plural(candidates.length, "candidate")}; the one that was taken is marked`, candidates, [
        {
          title: "candidate",
          value: ({ name }) => name,
          cell: ({ name }) => name,
          isMarked: ({ chosen }) => chosen,
        },
        number("speed", (row) => row.speedup, ratio),
        number("accuracy", (row) => row.accuracy, score),
        number("SQNR dB", (row) => row.sqnrDb, significant),
        number("size", (row) => row.bytes, bytes),
        number("float nodes", (row) => row.floatNodes, count),
        text("why", ({ reason }) => reason),
      ]),
    ],
  };
}

type Point = CandidatePoint & { readonly speed: number; readonly worth: number };

function pareto(points: readonly Point[], title: string): Markup {
  const axes = axesFor(
    [1, ...points.map(({ speed }) => speed)],
    points.map(({ worth }) => worth),
  );
  const { x, y } = axes;
  const best = points.filter(({ isBest }) => isBest).sort((a, b) => a.speed - b.speed);
  const dots = points.map(({ candidate, speed, worth, isBest }) => {
    const rank = candidate.chosen ? "dot taken" : isBest ? "dot front" : "dot";
    return html`<circle class="${rank}" cx="${px(x(speed))}" cy="${px(y(worth))}" r="6"><title>${candidate.name}: ${ratio(speed)}, ${significant(worth, 4)}, ${bytes(candidate.bytes)}</title></circle>`;
  });
  const chosen = points.find(({ candidate }) => candidate.chosen);
  const said = chosen ? `; taken is ${chosen.candidate.name} at ${ratio(chosen.speed)}` : "";
  const description = `${plural(points.length, "candidate")} by speed and ${title}, ${count(best.length)} of them beaten by no other${said}.`;
  const steps = line(
    "front-line",
    best.map(({ speed, worth }) => [x(speed), y(worth)] as const),
  );
  const even = html`<line class="limit" x1="${px(x(1))}" x2="${px(x(1))}" y1="${TOP}" y2="${BOTTOM}"><title>as fast as before</title></line>`;
  return html`${chart(description, axes, ["times as fast", title], [even, steps, ...dots])}<p class="faint">Filled: taken. Blue: beaten by no other on both. Dashed: as fast as before.</p>`;
}
