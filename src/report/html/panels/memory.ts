/** Where the bytes are: weights by the part of the model that reads them, and what a run holds at once. */
import type { GraphFacts } from "../../../pipeline/inspect/graph-facts.js";
import type { RunResult } from "../../../pipeline/result.js";
import { modelNames } from "../../model-names.js";
import { bytes, count, plural } from "../../numbers.js";
import { treemap } from "../../treemap.js";
import { type WeightGroup, weightGroups } from "../../weight-groups.js";
import { areaKey, axesFor, chart, line, lineKey } from "../chart.js";
import { html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { folded, number, text } from "../table.js";

const [WIDE, HIGH] = [560, 260];
/** Of a letter, in pixels; fewer of them than this tell nothing. */
const LETTER = 7.4;
const LEAST_LETTERS = 7;

export function memoryPanel(result: RunResult): Panel {
  const { graphs } = result;
  const sides = [
    ["before", graphs?.before],
    ["after", graphs?.after],
  ] as const;
  const total = (graph: GraphFacts): number => graph.weightBytes.reduce((sum, size) => sum + size, 0);
  const most = Math.max(...sides.map(([, graph]) => (graph ? total(graph) : 0)));
  const maps = sides.flatMap(([side, graph]) =>
    graph && total(graph) > 0 ? [weights(side, graph, total(graph), most)] : [],
  );
  const body = [...(maps.length > 0 ? [html`<div class="graphs">${maps}</div>`] : []), ...activations(result)];
  return { id: "memory", title: "Memory", body };
}

/** Both maps to the same scale: half the bytes are half the area. */
function weights(side: string, graph: GraphFacts, total: number, most: number): Markup {
  const groups = weightGroups(graph);
  const scale = Math.sqrt(total / most);
  const area = { x: 0, y: 0, width: WIDE * scale, height: HIGH * scale };
  const places = treemap(
    groups.map((group) => group.bytes),
    area,
  );
  const tiles = groups.map((group, i) => {
    const { x, y, width, height } = places[i]!;
    const fits = width > 46 && height > 16;
    const room = Math.floor((width - 8) / LETTER);
    const label =
      fits && room >= Math.min(LEAST_LETTERS, group.name.length)
        ? html`<text x="4" y="13"${onTelephone(width, Math.min(room, group.name.length))}>${tail(group.name, room)}</text>`
        : null;
    const size =
      fits && height > 32 && width > 56
        ? html`<text x="4" y="27" class="sub${width > 90 && height > 44 ? "" : " name"}">${bytes(group.bytes)}</text>`
        : null;
    return html`<g class="tile t-${typeClass(group.type)}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)})"><rect width="${width.toFixed(1)}" height="${height.toFixed(1)}"/>${label}${size}<title>${group.name}: ${bytes(group.bytes)}, ${group.type}, ${plural(group.nodes, "node")}</title></g>`;
  });
  const types = [...new Set(groups.map(({ type }) => type))];
  const keys = types.map((type) => areaKey(`tile t-${typeClass(type)}`, type));
  const largest = groups[0]!;
  const description = `Weights ${side}: ${bytes(total)} in ${plural(groups.length, "part")}, the largest ${largest.name} with ${bytes(largest.bytes)}.`;
  const shown = folded<WeightGroup>("As a table", `Weights ${side} by part of the model`, groups, [
    text("part", ({ name }) => name),
    text("type", ({ type }) => type),
    number("nodes", ({ nodes }) => nodes, count),
    number("bytes", ({ bytes: size }) => size, bytes),
  ]);
  return html`<figure><figcaption>Weights ${side}: ${bytes(total)}</figcaption><svg viewBox="0 0 ${WIDE} ${Math.ceil(area.height)}" role="img" aria-label="${description}">${tiles}</svg><p class="key">${keys}</p>${shown}</figure>`;
}

/** On a telephone letters are larger than the drawing: names without room for that are left to the table. */
const onTelephone = (width: number, letters: number): Markup | null =>
  width < 8 + 1.45 * LETTER * letters ? html` class="name"` : null;

/** Names differ at their ends. */
const tail = (name: string, room: number): string => (name.length <= room ? name : `…${name.slice(1 - room)}`);

const typeClass = (type: string): string => {
  if (/^[iu][248]$/.test(type)) return "8";
  if (/^b?f16$/.test(type)) return "h";
  return /^f(32|64)$/.test(type) ? "f" : "o";
};

function activations({ profile }: RunResult): Markup[] {
  const known = (profile?.models ?? []).flatMap(({ model, memory: { activations: found } }, i) =>
    found?.along?.length ? [{ model, found, along: found.along, className: i === 0 ? "before" : "after" }] : [],
  );
  if (known.length === 0) return [];
  const names = modelNames(known.map(({ model }) => model));
  // Over the share of the run: two models have different numbers of nodes.
  const curves = known.map(({ along }) =>
    along.map((size, i) => [(100 * (i + 1)) / along.length, size / 1e6] as const),
  );
  const axes = axesFor([0, 100], [0, ...curves.flat().map(([, size]) => size)]);
  const description = known
    .map(
      ({ found }, i) =>
        `${names[i]!} holds at most ${bytes(found.peakBytes)} of activations at once, at ${found.peakNode}`,
    )
    .join("; ");
  const lines = curves.map((points, i) =>
    line(
      known[i]!.className,
      points.map(([at, size]) => [axes.x(at), axes.y(size)] as const),
    ),
  );
  return [
    html`<h3>Activations</h3>`,
    html`<p>${description}.</p>`,
    ...(known.length > 1
      ? [html`<p class="key">${known.map(({ className }, i) => lineKey(className, names[i]!))}</p>`]
      : []),
    chart(`${description}.`, axes, ["% of the nodes, in execution order", "MB alive"], lines),
    ...known.map(({ along }, i) => {
      const rows = along.map((size, i) => ({ at: i + 1, size }));
      return folded(`${names[i]!} as a table`, "Bytes alive, in execution order", rows, [
        number("place", ({ at }) => at, count),
        number("alive", ({ size }) => size, bytes),
      ]);
    }),
  ];
}
