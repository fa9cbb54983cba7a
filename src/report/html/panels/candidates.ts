/** Every candidate that was measured: accuracy against speed, and which ones no other beats on both. */
import type { CandidateFacts, RunResult, VerdictReason } from "../../../pipeline/result.js";
import { nodesColumns } from "../../candidate-nodes.js";
import { commonSpeed, isBesideRewritten, speedColumns, speedRemark } from "../../candidate-speed.js";
import { candidateWhy } from "../../candidate-why.js";
import { bytes, count, interval, plural, ratio, score, significant } from "../../numbers.js";
import { type CandidatePoint, candidatePoints, worthOf } from "../../pareto.js";
import { type Axes, areaKey, axesFor, BOTTOM, chart, dotKey, LEFT, line, lineKey, px, RIGHT, TOP } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, table, text } from "../table.js";

export function candidatesPanel(result: RunResult): Panel {
  const { candidates } = result;
  if (candidates.length === 0) return { id: "candidates", title: "Candidates", body: [] };
  const points = candidatePoints(result).flatMap(({ candidate, speed, worth, isBest }): Point[] =>
    speed === null || worth === null ? [] : [{ candidate, speed, worth, isBest }],
  );
  const remark = speedRemark(candidates);
  return {
    id: "candidates",
    title: "Candidates",
    body: [
      ...(points.length > 1
        ? [pareto(points, worthOf(result).isMetric ? "accuracy" : "SQNR, dB", estimateOf(result), boundsOf(result))]
        : []),
      table(`${plural(candidates.length, "candidate")}; the one that was taken is marked`, candidates, [
        {
          title: "candidate",
          value: ({ name }) => name,
          cell: ({ name }) => name,
          isMarked: ({ chosen }) => chosen,
        },
        ...speedColumns(candidates).map(({ title, of }) => number<CandidateFacts>(title, of, ratio)),
        ...(candidates.some(({ timedInterval }) => timedInterval)
          ? [
              text<CandidateFacts>("interval", ({ timedInterval }) =>
                timedInterval ? interval(timedInterval, ratio) : "",
              ),
            ]
          : []),
        number("accuracy", (row) => row.accuracy, score),
        ...(candidates.some(({ sqnrDb }) => sqnrDb !== null)
          ? [number<(typeof candidates)[number]>("SQNR dB", (row) => row.sqnrDb, significant)]
          : []),
        number("size", (row) => row.bytes, bytes),
        ...nodesColumns(candidates, true).map(({ title, of }) => number<CandidateFacts>(title, of, count)),
        text("why", (row) => candidateWhy(row, result)),
      ]),
      ...(remark === null ? [] : [html`<p class="faint">${remark}</p>`]),
    ],
  };
}

type Point = CandidatePoint & { readonly speed: number; readonly worth: number };

/** What limits leave: the least speed, and the worst accuracy where the points have one. */
interface Bounds {
  readonly speed: number | null;
  readonly worth: number | null;
  readonly isHigherBetter: boolean;
}

function boundsOf(result: RunResult): Bounds {
  const { accuracy, verdict } = result;
  const { isMetric, isHigherBetter } = worthOf(result);
  // Limits are about times that were measured, and no estimate misses or meets one.
  const reasons = isEstimate(result) ? [] : verdict.reasons;
  const speeds = reasons.flatMap(({ limit, wanted, unit }) =>
    (limit === "min-speedup" || limit === "gain") && unit === "times" ? [wanted] : [],
  );
  const drop = verdict.reasons.find(({ limit }) => limit === "max-drop");
  const allowed = drop && accuracy && isMetric ? inMetric(drop, accuracy.baseline) : null;
  return {
    speed: speeds.length > 0 ? Math.max(...speeds) : null,
    worth: allowed === null ? null : accuracy!.baseline - (isHigherBetter ? allowed : -allowed),
    isHigherBetter,
  };
}

function inMetric({ wanted, unit }: VerdictReason, baseline: number): number | null {
  if (unit === "points") return wanted / 100;
  if (unit === "percent") return (Math.abs(baseline) * wanted) / 100;
  return unit === "metric" ? wanted : null;
}

/** Slower, or less accurate, than a limit allows. */
function refused({ speed, worth, isHigherBetter }: Bounds, { x, y }: Axes): Markup[] {
  const area = (left: number, top: number, right: number, bottom: number): Markup[] =>
    right > left && bottom > top
      ? [
          html`<g class="outside"><rect x="${px(left)}" y="${px(top)}" width="${px(right - left)}" height="${px(bottom - top)}"/></g>`,
        ]
      : [];
  const edge = worth === null ? null : Math.min(BOTTOM, Math.max(TOP, y(worth)));
  const wall = speed === null ? LEFT : Math.min(RIGHT, Math.max(LEFT, x(speed)));
  // Side by side: where two of them met, the colour would double.
  return [
    ...area(LEFT, TOP, wall, BOTTOM),
    ...(edge === null ? [] : isHigherBetter ? area(wall, edge, RIGHT, BOTTOM) : area(wall, TOP, RIGHT, edge)),
  ];
}

const isEstimate = ({ candidates }: RunResult): boolean => commonSpeed(candidates).title === "estimate";

/** What estimated speeds are beside; null for speeds that were timed. */
function estimateOf(result: RunResult): string | null {
  if (!isEstimate(result)) return null;
  return isBesideRewritten(result.candidates) ? "the float model as rewritten" : "before";
}

/** @param beside of `estimateOf` */
function pareto(points: readonly Point[], title: string, beside: string | null, bounds: Bounds): Markup {
  const even = `as fast as ${beside ?? "before"}`;
  const axes = axesFor(
    [1, ...(bounds.speed === null ? [] : [bounds.speed]), ...points.map(({ speed }) => speed)],
    [...(bounds.worth === null ? [] : [bounds.worth]), ...points.map(({ worth }) => worth)],
  );
  const { x, y } = axes;
  const best = points.filter(({ isBest }) => isBest).sort((a, b) => a.speed - b.speed);
  const dots = points.map(({ candidate, speed, worth, isBest }) => {
    const rank = candidate.chosen ? "dot taken" : isBest ? "dot front" : "dot";
    return html`<circle class="${rank}" cx="${px(x(speed))}" cy="${px(y(worth))}" r="6"><title>${candidate.name}: ${ratio(speed)}, ${significant(worth, 4)}, ${bytes(candidate.bytes)}</title></circle>`;
  });
  const chosen = points.find(({ candidate }) => candidate.chosen);
  const said = chosen ? `; taken is ${chosen.candidate.name} at ${ratio(chosen.speed)}` : "";
  const description = `${plural(points.length, "candidate")} by ${beside === null ? "" : "estimated "}speed and ${title}, ${count(best.length)} of them beaten by no other${said}.`;
  const steps = line(
    "front-line",
    best.map(({ speed, worth }) => [x(speed), y(worth)] as const),
  );
  const evenLine = html`<line class="limit" x1="${px(x(1))}" x2="${px(x(1))}" y1="${TOP}" y2="${BOTTOM}"><title>${even}</title></line>`;
  return html`${chart(description, axes, [`times as fast${beside === null ? "" : ", by estimate"}`, title], [...refused(bounds, axes), evenLine, steps, ...dots])}<p class="key">${dotKey("dot taken", "taken")}${dotKey("dot front", "beaten by no other on both")}${dotKey("dot", "others")}${lineKey("limit", even)}${bounds.speed === null && bounds.worth === null ? null : areaKey("outside", "outside the limits")}</p>`;
}
