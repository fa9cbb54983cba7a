/** What calibration saw of each tensor: how its elements are spread, the range of each method, and the one that was taken. */
import type { CalibratedTensor } from "../../../pipeline/calibrate/calibration-facts.js";
import type { RunResult } from "../../../pipeline/result.js";
import { middles } from "../../escape.js";
import { count, interval, percent, plural, significant } from "../../numbers.js";
import { lineKey } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { number, packed, table, text } from "../table.js";

const MOST_DRAWN = 24;
const WIDE = 300;
const HIGH = 110;
/** Letters that stand on one line above the narrowest drawing. */
const CAPTION = 30;

export function calibrationPanel({ calibration }: RunResult): Panel {
  const panel = { id: "calibration", title: "Calibration" };
  if (!calibration || calibration.tensors.length === 0) return { ...panel, body: [] };
  const { tensors, of } = calibration;
  const drawn = [...tensors].sort((a, b) => lost(b) - lost(a)).slice(0, MOST_DRAWN);
  const which =
    drawn.length < of
      ? `The ${count(drawn.length)} of ${plural(of, "tensor")} that lose the most`
      : plural(of, "tensor");
  const captions = middles(
    drawn.map(({ tensor }) => tensor),
    CAPTION,
  );
  const hasChosen = tensors.some(({ chosen }) => chosen !== null);
  return {
    ...panel,
    body: [
      html`<p>${which}; bars are elements on a logarithmic scale.</p>`,
      html`<p class="key">${hasChosen ? lineKey("range taken", "the range that was taken") : null}${lineKey("range", hasChosen ? "ranges of the other methods" : "ranges of the methods")}</p>`,
      html`<div class="small-charts">${drawn.map((tensor, i) => figure(tensor, captions[i]!))}</div>`,
      rangesTable(tensors, of),
    ],
  };
}

const share = (part: number): string => percent(part, 2);

/** Of the range in use, or of the tightest. */
const lost = (tensor: CalibratedTensor): number =>
  taken(tensor)?.clippedShare ?? Math.max(...tensor.ranges.map(({ clippedShare }) => clippedShare));

const taken = ({ ranges, chosen }: CalibratedTensor): CalibratedTensor["ranges"][number] | null =>
  ranges.find(({ method }) => method === chosen) ?? null;

function figure(tensor: CalibratedTensor, caption: string): Markup {
  const { histogram, ranges, chosen, min, max, elements } = tensor;
  const { from, width, counts } = histogram;
  const ends = [from, from + width * counts.length, ...ranges.flatMap(({ low, high }) => [low, high])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const x = (value: number): string => (((value - low) / (high - low || 1)) * (WIDE - 8) + 4).toFixed(1);
  const most = Math.log1p(Math.max(...counts));
  const bars = counts.map((many, i) => {
    if (many === 0) return "";
    const tall = Math.max(1, (Math.log1p(many) / most) * (HIGH - 34));
    const start = Number(x(from + i * width));
    const wide = Math.max(1, Number(x(from + (i + 1) * width)) - start - 0.5).toFixed(1);
    return `M${start} ${HIGH - 18}v-${tall.toFixed(1)}h${wide}v${tall.toFixed(1)}z`;
  });
  const marks = [...ranges]
    .sort((a, b) => Number(a.method === chosen) - Number(b.method === chosen))
    .map(({ method, low: least, high: largest, clippedShare }) => {
      const title = html`<title>${method}: ${interval([least, largest], significant)}, clips ${share(clippedShare)}</title>`;
      const name = method === chosen ? "range taken" : "range";
      const ends = [least, largest].map((end) => `M${x(end)} 10V${HIGH - 18}`).join("");
      return html`<path class="${name}" d="${ends}">${title}</path>`;
    });
  const own = taken(tensor);
  const said = own
    ? `${own.method} takes ${interval([own.low, own.high], significant)} and clips ${share(own.clippedShare)}`
    : "no range is taken yet";
  const description = `${plural(elements, "element")} of ${tensor.tensor} between ${significant(min)} and ${significant(max)}: ${said}.`;
  const isApart = Number(x(0)) > 40 && Number(x(0)) < WIDE - 40;
  const zero =
    low < 0 && high > 0 && isApart
      ? html`<text class="tick" x="${x(0)}" y="${HIGH - 4}" text-anchor="middle">0</text>`
      : null;
  const bins = packed(
    "Bins",
    "Elements by bin",
    counts.map((many, i) => ({ at: from + i * width, many })),
    [number("from", ({ at }) => at, significant), number("elements", ({ many }) => many, count)],
  );
  return html`<figure><figcaption title="${tensor.tensor}">${caption}</figcaption><svg viewBox="0 0 ${WIDE} ${HIGH}" role="img" aria-label="${description}"><path class="bars" d="${bars.join("")}"/>${marks}<text class="tick" x="2" y="${HIGH - 4}">${significant(low)}</text>${zero}<text class="tick" x="${WIDE - 2}" y="${HIGH - 4}" text-anchor="end">${significant(high)}</text></svg><p class="faint">${own ? `${own.method} ${interval([own.low, own.high], significant)}, clips ${share(own.clippedShare).replace(" ", "\u00a0")}` : `${significant(min)} .. ${significant(max)}`}</p>${bins}</figure>`;
}

function rangesTable(tensors: readonly CalibratedTensor[], of: number): Markup {
  const methods = [...new Set(tensors.flatMap(({ ranges }) => ranges.map(({ method }) => method)))];
  const title =
    tensors.length < of ? `${count(tensors.length)} of ${plural(of, "tensor")}, those that lose the most` : "Tensors";
  return table(`${title}: ranges by method`, tensors, [
    text("tensor", ({ tensor }) => tensor),
    number("elements", ({ elements }) => elements, count),
    text("taken", ({ chosen }) => chosen ?? "-"),
    number("clipped", (row) => taken(row)?.clippedShare ?? null, share),
    number("least", ({ min }) => min, significant),
    number("largest", ({ max }) => max, significant),
    ...methods.map((method) => ({
      title: method,
      isNumber: true,
      value: (row: CalibratedTensor) => row.ranges.find((range) => range.method === method)?.high ?? null,
      cell: (row: CalibratedTensor) => {
        const range = row.ranges.find((each) => each.method === method);
        return range ? interval([range.low, range.high], significant) : "-";
      },
    })),
  ]);
}
