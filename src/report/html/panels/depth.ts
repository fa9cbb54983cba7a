/** How the error grows from layer to layer, in execution order. */
import type { RunResult } from "../../../pipeline/result.js";
import { count, plural, significant } from "../../numbers.js";
import { axesFor, chart, LEFT, line, marks, px, RIGHT } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { folded, number, text } from "../table.js";

export function depthPanel({ layers }: RunResult): Panel {
  const body = layers?.along?.some(({ sqnrDb }) => sqnrDb !== null) ? drawn(layers, layers.along) : [];
  return { id: "depth", title: "Error along the depth", body };
}

function drawn(
  { thresholdDb, first, compared }: NonNullable<RunResult["layers"]>,
  along: NonNullable<NonNullable<RunResult["layers"]>["along"]>,
): Markup[] {
  const points = along.flatMap(({ value, node, op, sqnrDb }, at) =>
    sqnrDb === null ? [] : [{ at: at + 1, value, node, op, sqnrDb }],
  );
  const axes = axesFor([1, along.length], [thresholdDb, ...points.map(({ sqnrDb }) => sqnrDb)]);
  const { x, y } = axes;
  const dots = marks(
    points.map(({ at, value, op, sqnrDb }) => ({
      className: sqnrDb < thresholdDb ? "spot bad" : "spot taken",
      at: [x(at), y(sqnrDb)],
      radius: 2.5,
      title: `${at}. ${value} (${op}): ${significant(sqnrDb)} dB`,
    })),
  );
  const limit = html`<line class="limit" x1="${LEFT}" x2="${RIGHT}" y1="${px(y(thresholdDb))}" y2="${px(y(thresholdDb))}"><title>${thresholdDb} dB</title></line>`;
  const path = line(
    "faint-line",
    points.map(({ at, sqnrDb }) => [x(at), y(sqnrDb)] as const),
  );
  const least = points.reduce((lowest, point) => (point.sqnrDb < lowest.sqnrDb ? point : lowest));
  const where = first ? `the first below ${thresholdDb} dB is ${first.value}` : `none is below ${thresholdDb} dB`;
  const description = `SQNR of ${plural(points.length, "tensor")} that differ, in execution order: ${where}; the least is ${significant(least.sqnrDb)} dB at ${least.value}.`;
  const equal = along.length - points.length;
  const left = compared - along.length;
  return [
    html`<p>${first ? `First below ${thresholdDb} dB: ${first.value} of ${first.node} (${first.op}).` : `None below ${thresholdDb} dB.`} ${equal > 0 ? `${plural(equal, "tensor")} equal in both.` : ""} ${left > 0 ? `${count(left)} that differ less are not shown.` : ""}</p>`,
    chart(description, axes, ["in execution order", "SQNR, dB"], [limit, path, ...dots]),
    folded("As a table", "Tensors in execution order", points, [
      number("place", ({ at }) => at, count),
      text("tensor", ({ value }) => value),
      text("node", ({ node }) => node),
      text("operator", ({ op }) => op),
      number("SQNR dB", ({ sqnrDb }) => sqnrDb, significant),
    ]),
  ];
}
