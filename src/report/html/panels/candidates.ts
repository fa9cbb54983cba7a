/** Every candidate that was measured: accuracy against speed, and which ones no other beats on both. */
import type { CandidateFacts, RunResult } from "../../../pipeline/result.js";
import { bytes, count, plural, ratio, score, significant } from "../../numbers.js";
import { axesFor, BOTTOM, chart, line, px, TOP } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table, text } from "../table.js";

export function candidatesPanel({ candidates, accuracy }: RunResult): Panel {
  if (candidates.length === 0) return { id: "candidates", title: "Candidates", body: [] };
  const worth = accuracyOf(candidates);
  const points = candidates.flatMap((candidate): Point[] => {
    const value = worth.of(candidate);
    return candidate.speedup === null || value === null ? [] : [{ candidate, speed: candidate.speedup, value }];
  });
  const isHigherBetter = worth.isMetric ? (accuracy?.higherIsBetter ?? true) : true;
  return {
    id: "candidates",
    title: "Candidates",
    body: [
      ...(points.length > 1 ? [pareto(points, worth.title, isHigherBetter)] : []),
      table(`${plural(candidates.length, "candidate")}; the one that was taken is marked`, candidates, [
        {
          title: "candidate",
          value: ({ name }) => name,
          cell: ({ name, chosen }) => (chosen ? html`<strong>* ${name}</strong>` : name),
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

interface Point {
  readonly candidate: CandidateFacts;
  readonly speed: number;
  readonly value: number;
}

/** The metric where at least two have one, else the SQNR of the search. */
function accuracyOf(candidates: readonly CandidateFacts[]): {
  readonly title: string;
  readonly isMetric: boolean;
  readonly of: (candidate: CandidateFacts) => number | null;
} {
  const measured = candidates.filter(({ accuracy, speedup }) => accuracy !== null && speedup !== null);
  return measured.length > 1
    ? { title: "accuracy", isMetric: true, of: ({ accuracy }) => accuracy }
    : { title: "SQNR, dB", isMetric: false, of: ({ sqnrDb }) => sqnrDb };
}

/** Those that no other beats: none is at least as good on both and better on one. */
export function front(points: readonly Point[], isHigherBetter: boolean): readonly Point[] {
  const sign = isHigherBetter ? 1 : -1;
  const beats = (a: Point, b: Point): boolean =>
    a.speed >= b.speed && sign * a.value >= sign * b.value && (a.speed > b.speed || sign * a.value > sign * b.value);
  return points.filter((point) => !points.some((other) => beats(other, point))).sort((a, b) => a.speed - b.speed);
}

function pareto(points: readonly Point[], title: string, isHigherBetter: boolean): Markup {
  const axes = axesFor(
    [1, ...points.map(({ speed }) => speed)],
    points.map(({ value }) => value),
  );
  const { x, y } = axes;
  const best = front(points, isHigherBetter);
  const dots = points.map((point) => {
    const { candidate, speed, value } = point;
    const rank = candidate.chosen ? "dot taken" : best.includes(point) ? "dot front" : "dot";
    return html`<circle class="${rank}" cx="${px(x(speed))}" cy="${px(y(value))}" r="6"><title>${candidate.name}: ${ratio(speed)}, ${significant(value, 4)}, ${bytes(candidate.bytes)}</title></circle>`;
  });
  const chosen = points.find(({ candidate }) => candidate.chosen);
  const said = chosen ? `; taken is ${chosen.candidate.name} at ${ratio(chosen.speed)}` : "";
  const description = `${plural(points.length, "candidate")} by speed and ${title}, ${count(best.length)} of them beaten by no other${said}.`;
  const steps = line(
    "front-line",
    best.map(({ speed, value }) => [x(speed), y(value)] as const),
  );
  const even = html`<line class="limit" x1="${px(x(1))}" x2="${px(x(1))}" y1="${TOP}" y2="${BOTTOM}"><title>as fast as before</title></line>`;
  return html`${chart(description, axes, ["times as fast", title], [even, steps, ...dots])}<p class="faint">Filled: taken. Blue: beaten by no other on both. Dashed: as fast as before.</p>`;
}
