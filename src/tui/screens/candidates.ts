/** Everything that was measured, by speed and by accuracy, and the command that makes each. */
import { nodesColumns } from "../../report/candidate-nodes.js";
import { commonSpeed, isBesideRewritten, speedColumns } from "../../report/candidate-speed.js";
import { candidateWhy } from "../../report/candidate-why.js";
import { printable } from "../../report/escape.js";
import { bytes, count, interval, optional, ratio, score, significant } from "../../report/numbers.js";
import { type CandidatePoint, worthOf } from "../../report/pareto.js";
import { rangeOf } from "../../report/range.js";
import { reproduce } from "../../report/reproduce.js";
import { tickText } from "../../report/ticks.js";
import { type ListColumn, list } from "../list.js";
import { plot } from "../plot.js";
import type { ListScreen, Scene } from "../screen.js";
import { paragraph, titled } from "./rows.js";

/** Below this there is no room for a chart. */
const CHART_FROM = 16;
const COMMAND_LINES = 4;

export const candidates: ListScreen = {
  kind: "list",
  name: "candidates",
  title: "Pareto",
  about:
    "All candidates that were measured: to the right is faster; which way is more accurate stands above the chart. The command below the list makes the one under the cursor.",
  hasFilter: false,
  keys: ({ candidates: all }) => [
    ...(all.length > 1 ? [["up/down", "candidate"] as const] : []),
    ...(all.length > 0 ? [["enter", "detail"] as const] : []),
  ],
  count: ({ candidates: all }) => all.length,
  visible: (scene) => listHeight(scene) - 1,
  body: (scene) => {
    const { book, state, look, width } = scene;
    if (book.candidates.length === 0) return paragraph(none(scene), width);
    const place = state.places.candidates;
    const chosen = book.candidates[place.cursor]!;
    const height = chartHeight(scene);
    return [
      ...(height > 0 ? chart(scene, height) : []),
      ...list(book.candidates, columns(scene), place, { width, height: listHeight(scene), look }),
      "",
      ...command(scene, chosen).slice(0, COMMAND_LINES),
    ];
  },
  detail: (scene, row) => {
    const point = scene.book.candidates[row]!;
    const { name, chosen, bytes: size, sqnrDb, accuracy, timedInterval } = point.candidate;
    const all = scene.book.result.candidates;
    const nodes = nodesColumns(all, true).map(({ title, of }) => `${title} ${optional(of(point.candidate), count)}`);
    return [
      ...titled("candidate", name, scene.width),
      ...titled("taken", chosen ? "yes" : "no", scene.width),
      ...titled("why", candidateWhy(point.candidate, scene.book.result), scene.width),
      ...speedColumns(all).flatMap(({ title, of }) => titled(title, optional(of(point.candidate), ratio), scene.width)),
      ...(timedInterval ? titled("interval", interval(timedInterval, ratio), scene.width) : []),
      ...titled("accuracy", optional(accuracy, score), scene.width),
      ...titled("SQNR", sqnrDb === null ? "-" : `${significant(sqnrDb)} dB`, scene.width),
      ...titled("size", bytes(size), scene.width),
      ...(nodes.length > 0 ? titled("nodes", nodes.join(", "), scene.width) : []),
      "",
      ...command(scene, point),
    ];
  },
};

/** Errors below this SQNR are nothing to choose by: what is above it would press all others together. */
const CLEAN_DB = 60;

/** A larger drawing tells no more. */
const TALLEST_CHART = 24;
const WIDEST_CHART = 120;

function chartHeight({ book, height }: Scene): number {
  if (height < CHART_FROM || drawable(book.candidates).length < 2) return 0;
  const below = COMMAND_LINES + 2 + Math.min(6, book.candidates.length);
  return Math.max(8, Math.min(TALLEST_CHART, height - below));
}

const listHeight = (scene: Scene): number => Math.max(2, scene.height - chartHeight(scene) - COMMAND_LINES - 1);

const none = ({ book: { result } }: Scene): string =>
  `\`${result.command}\` had one way to go, and compared no candidates. \`infer-opt quantize\`, \`optimize\` and \`prune\` try several.`;

interface Drawn extends CandidatePoint {
  readonly speed: number;
  readonly worth: number;
}

const drawable = (points: readonly CandidatePoint[], most = Number.POSITIVE_INFINITY): Drawn[] =>
  points.flatMap(({ speed, worth, ...point }) =>
    speed === null || worth === null ? [] : [{ ...point, speed, worth: Math.min(worth, most) }],
  );

const marks = { taken: "*", best: "o", beaten: "." } as const;
const markOf = ({ candidate, isBest }: CandidatePoint): string =>
  candidate.chosen ? marks.taken : isBest ? marks.best : marks.beaten;

function chart({ book, state, look, width: whole }: Scene, height: number): string[] {
  const width = Math.min(whole, WIDEST_CHART);
  const { title, isMetric, isHigherBetter } = worthOf(book.result);
  const better = isHigherBetter ? "up is better" : "down is better";
  const most = isMetric ? Number.POSITIVE_INFINITY : CLEAN_DB;
  const points = drawable(book.candidates, most);
  const isCut = points.some(({ candidate, worth }) => !isMetric && (candidate.sqnrDb ?? 0) > worth);
  const under = book.candidates[state.places.candidates.cursor];
  const x = rangeOf([1, ...points.map(({ speed }) => speed)], 0.06);
  const y = rangeOf(
    points.map(({ worth }) => worth),
    0.1,
  );
  const all = book.result.candidates;
  const beside = isBesideRewritten(all) ? " beside the rewritten float model" : "";
  const xTitle = `x as fast${commonSpeed(all).title === "estimate" ? `, by estimate${beside}` : ""}`;
  const front = points.filter(({ isBest }) => isBest).sort((a, b) => a.speed - b.speed);
  const dots = (which: readonly Drawn[], mark: string, paint: (text: string) => string) => ({
    ...{ points: which.map(({ speed, worth }) => [speed, worth] as const), kind: "dots" as const, mark, paint },
  });
  return [
    `${look.faint(`${title}, ${isCut ? `${CLEAN_DB} and more at the top` : better};`)} * taken  o beaten by no other  . beaten  @ cursor`.slice(
      0,
      width + 20,
    ),
    ...plot({
      ...{ width, height: height - 1, x, y, look, xTitle, showY: tidyScore },
      series: [
        {
          points: [
            [1, y.low],
            [1, y.high],
          ],
          kind: "dashed",
          mark: ":",
          paint: look.faint,
        },
        {
          points: front.map(({ speed, worth }) => [speed, worth] as const),
          kind: "dashed",
          mark: "-",
          paint: look.faint,
        },
        ...points.map((point) => dots([point], markOf(point), point.candidate.chosen ? look.good : look.after)),
        ...(under ? [dots(drawable([under], most), "@", look.strong)] : []),
      ],
    }),
  ];
}

const tidyScore = (value: number): string => tickText(Number(value.toPrecision(4)));

function columns({ book }: Scene): ListColumn<CandidatePoint>[] {
  const all = book.result.candidates;
  const has = (of: (point: CandidatePoint) => number | null): boolean =>
    book.candidates.some((point) => of(point) !== null);
  return [
    { title: "", cell: markOf, rank: 0 },
    { title: "candidate", cell: ({ candidate }) => printable(candidate.name), rank: 0, least: 30 },
    ...speedColumns(all).map(({ title, of }) => ({
      ...{ title, isNumber: true, rank: 1 },
      cell: ({ candidate }: CandidatePoint) => optional(of(candidate), ratio),
    })),
    ...(has(({ candidate }) => candidate.accuracy)
      ? [
          {
            title: "accuracy",
            cell: ({ candidate }: CandidatePoint) => optional(candidate.accuracy, score),
            isNumber: true,
            rank: 2,
          },
        ]
      : []),
    { title: "SQNR dB", cell: ({ candidate }) => significant(candidate.sqnrDb), isNumber: true, rank: 3 },
    { title: "size", cell: ({ candidate }) => bytes(candidate.bytes), isNumber: true, rank: 4 },
    ...nodesColumns(all, false).map(({ title, of }) => ({
      ...{ title, isNumber: true, rank: 5 },
      cell: ({ candidate }: CandidatePoint) => optional(of(candidate), count),
    })),
    {
      title: "why",
      cell: ({ candidate }) => printable(candidateWhy(candidate, book.result)),
      rank: 6,
      least: 20,
      isText: true,
    },
  ];
}

function command({ book, look, width }: Scene, { candidate }: CandidatePoint): string[] {
  const { command: made, note } = reproduce(book.result, candidate, book.commandLine);
  return [...paragraph(made, width), ...(note === null ? [] : paragraph(`(${note})`, width).map(look.faint))];
}
