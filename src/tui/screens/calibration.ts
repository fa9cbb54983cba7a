/** What calibration saw of each tensor, and what each way to choose a range makes of it. */
import type { CalibratedTensor } from "../../pipeline/calibrate/calibration-facts.js";
import { printable } from "../../report/escape.js";
import { count, optional, percent, plural, significant } from "../../report/numbers.js";
import type { Book } from "../book.js";
import { padLeft, padRight } from "../cells.js";
import { type ListColumn, list } from "../list.js";
import { bars } from "../plot.js";
import { type ListScreen, type Scene, searchKeys } from "../screen.js";
import { paragraph, titled } from "./rows.js";

/** Below this there is no room for the histogram beside the list. */
const CHART_FROM = 14;

export const calibration: ListScreen = {
  kind: "list",
  name: "calibration",
  title: "Ranges",
  about:
    "Values of each tensor that calibration saw, and the ranges that were to choose from; * is the one in use. A tight range rounds finely and clips what lies outside; a wide one clips nothing and rounds coarsely.",
  hasFilter: true,
  keys: ({ result }) => (result.calibration?.tensors.length ? searchKeys : []),
  count: (book, state) => shown(book, state.places.calibration.filter).length,
  visible: (scene) => scene.height - chartHeight(scene) - 2,
  body: (scene) => {
    const { book, state, look, width, height } = scene;
    const seen = book.result.calibration;
    if (!seen || seen.tensors.length === 0) return paragraph(none(scene), width);
    const place = state.places.calibration;
    const rows = shown(book, place.filter);
    const all = seen.tensors.length < seen.of ? ` of ${count(seen.of)}, those that lose most` : "";
    const found =
      place.filter === ""
        ? `${plural(rows.length, "tensor")}${all}`
        : `${rows.length} of ${plural(seen.tensors.length, "tensor")} with "${printable(place.filter)}"`;
    const under = rows[place.cursor];
    const tall = chartHeight(scene);
    return [
      look.faint(found.slice(0, width)),
      ...list(rows, columns, place, { width, height: height - tall - 1, look }),
      ...(tall > 0 && under ? ["", ...histogram(under, scene, tall - 1)] : []),
    ];
  },
  detail: (scene, row) => {
    const tensor = shown(scene.book, scene.state.places.calibration.filter)[row]!;
    return [
      ...titled("tensor", tensor.tensor, scene.width),
      ...facts(tensor, scene),
      "",
      ...histogram(tensor, scene, 12),
    ];
  },
};

const shown = ({ result }: Book, filter: string): readonly CalibratedTensor[] =>
  (result.calibration?.tensors ?? []).filter(({ tensor }) => tensor.toLowerCase().includes(filter.toLowerCase()));

const chartHeight = ({ book, height }: Scene): number =>
  height < CHART_FROM || !book.result.calibration ? 0 : Math.min(14, Math.floor(height / 2) + 1);

const none = ({ book: { result } }: Scene): string =>
  `No ranges in this result: ${result.quantization?.mode === "static" ? "it was written by an earlier version" : `\`${result.command}\` chose none`}. ` +
  "`infer-opt calibrate MODEL --calibration DATA -o RANGES --report result.json` keeps what it saw of each tensor, and so does `infer-opt quantize` where it quantizes activations.";

const rangeInUse = ({ ranges, chosen }: CalibratedTensor) => ranges.find(({ method }) => method === chosen);

const columns: readonly ListColumn<CalibratedTensor>[] = [
  { title: "tensor", cell: ({ tensor }) => printable(tensor), rank: 0, least: 12 },
  { title: "least", cell: ({ min }) => significant(min), isNumber: true, rank: 3 },
  { title: "largest", cell: ({ max }) => significant(max), isNumber: true, rank: 2 },
  { title: "range", cell: ({ chosen }) => chosen ?? "-", rank: 1 },
  { title: "from", cell: (row) => optional(rangeInUse(row)?.low, significant), isNumber: true, rank: 5 },
  { title: "to", cell: (row) => optional(rangeInUse(row)?.high, significant), isNumber: true, rank: 4 },
  {
    title: "clipped",
    cell: (row) => optional(rangeInUse(row)?.clippedShare, (share) => percent(share, 2)),
    isNumber: true,
    rank: 1,
  },
];

function facts({ elements, min, max, ranges, chosen }: CalibratedTensor, { width }: Scene): string[] {
  return [
    ...titled("values", `${count(elements)}, from ${significant(min)} to ${significant(max)}`, width),
    ...ranges.flatMap(({ method, low, high, clippedShare }) =>
      titled(
        `${method === chosen ? "*" : " "} ${method}`,
        `${significant(low)} to ${significant(high)}, clips ${percent(clippedShare, 2)}${method === chosen ? ", in use" : ""}`,
        width,
      ),
    ),
  ];
}

const TITLE = 12;

/** Values as bars on a logarithmic scale, since most lie near 0, and the ranges as lines below them. */
function histogram(
  { histogram: { from, width: binWidth, counts }, ranges, chosen }: CalibratedTensor,
  { width, look }: Scene,
  height: number,
): string[] {
  const columns = Math.max(8, width - TITLE - 1);
  const ends = [from, from + binWidth * counts.length, ...ranges.flatMap(({ low, high }) => [low, high])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const span = high > low ? high - low : 1;
  const most = Math.log1p(Math.max(...counts, 1));
  const heights = Array.from({ length: columns }, (_, column) => {
    const bin = Math.floor((low + (span * (column + 0.5)) / columns - from) / binWidth);
    return Math.log1p(counts[bin] ?? 0) / most;
  });
  const at = (value: number): number => Math.round(((value - low) / span) * (columns - 1));
  const rows = Math.max(1, height - ranges.length - 1);
  const [left, right, line] = look.isUnicode ? ["├", "┤", "─"] : ["[", "]", "-"];
  return [
    ...bars(heights, rows, look).map(
      (text, i) => `${padRight(i === 0 ? "values, log" : "", TITLE)} ${look.before(text)}`,
    ),
    ...ranges.map((range) => {
      const [first, last] = [at(range.low), at(range.high)];
      const inUse = range.method === chosen;
      const drawn = `${" ".repeat(first)}${last > first ? left + line.repeat(last - first - 1) + right : "|"}`;
      return `${padRight(`${inUse ? "*" : " "} ${range.method}`, TITLE)} ${inUse ? look.good(drawn) : drawn}`;
    }),
    look.faint(
      `${" ".repeat(TITLE + 1)}${significant(low)}${padLeft(significant(high), columns - significant(low).length)}`,
    ),
  ];
}
