/** Both graphs as drawings, side by side: coloured by what is known of each node, and which nodes became which. */
import type { GraphFacts } from "../../../pipeline/inspect/graph-facts.js";
import type { RunResult } from "../../../pipeline/result.js";
import { middle, middles } from "../../escape.js";
import { type GraphBox, graphBoxes, isConversion } from "../../graph-boxes.js";
import { beforeRows, layerRows } from "../../layer-rows.js";
import { bytes, count, milliseconds, plural, significant } from "../../numbers.js";
import { areaKey } from "../chart.js";
import { type Layout, layOut } from "../layered-layout.js";
import { data, html, type Markup } from "../markup.js";
import type { Panel } from "../panel.js";
import { type Column, folded, number, text } from "../table.js";
import { key, legend, type Measure, scaleOf } from "./graph-scale.js";

const SIZE = { boxWidth: 118, boxHeight: 32, gapX: 10, gapY: 20 };
const LETTERS = 17;
const MARGIN = 6;

/** In the order in which they are offered. */
const measures: readonly Measure[] = [
  { id: "saved", title: "time saved", of: ({ savedMs }) => savedMs, show: inMs, unit: "ms", isSigned: true },
  { id: "after", title: "time after", of: ({ afterMs }) => afterMs, show: inMs, unit: "ms" },
  { id: "before", title: "time before", of: ({ beforeMs }) => beforeMs, show: inMs, unit: "ms" },
  { id: "sqnr", title: "SQNR", of: ({ sqnrDb }) => sqnrDb, show: inDb, unit: "dB", isDown: true },
  { id: "weights", title: "weights", of: ({ weightBytes }) => weightBytes || null, show: bytes, unit: "bytes" },
];

interface Drawn {
  readonly side: "before" | "after";
  readonly graph: GraphFacts;
  readonly boxes: readonly GraphBox[];
}

export function graphPanel(result: RunResult): Panel {
  const { graphs } = result;
  const sides: Drawn[] = [];
  if (graphs?.before) {
    sides.push({ side: "before", graph: graphs.before, boxes: graphBoxes(graphs.before, beforeRows(result)) });
  }
  if (graphs?.after) {
    sides.push({ side: "after", graph: graphs.after, boxes: graphBoxes(graphs.after, layerRows(result)) });
  }
  return { id: "graph", title: "Graph", body: sides.every(({ boxes }) => boxes.length === 0) ? [] : drawn(sides) };
}

function drawn(sides: readonly Drawn[]): Markup[] {
  const boxes = sides.flatMap((side) => side.boxes);
  const present = measures.filter(({ of }) => boxes.some((box) => of(box) !== null));
  const scales = present.map((measure) => scaleOf(measure, boxes));
  const hasPrecision = boxes.some(({ precision }) => precision !== "");
  const providers = [...new Set(boxes.flatMap(({ provider }) => provider || []))].sort();
  const choices = [
    ...present.map(({ id, title }) => ({ id, title })),
    ...(hasPrecision ? [{ id: "precision", title: "precision" }] : []),
    ...(providers.length > 1 ? [{ id: "provider", title: "provider" }] : []),
  ];
  const chosen = choices[0]?.id ?? "precision";
  const options = choices.map(({ id, title }) => html`<option value="${id}">${title}</option>`);
  const legends = [
    ...scales.map((scale) => legend(scale, scale.measure.id !== chosen)),
    ...(hasPrecision ? [precisionLegend(boxes, chosen !== "precision")] : []),
    ...(providers.length > 1 ? [providerLegend(providers)] : []),
  ];
  const classesOf = (box: GraphBox): readonly string[] => [
    ...scales.map(({ measure, classOf }) => classOf(measure.of(box))),
    ...(hasPrecision ? [precisionClass(box.precision)] : []),
    ...(providers.length > 1 ? [providerClass(box.provider, providers)] : []),
  ];
  return [
    html`<p class="controls"><label>Colour <select class="colour">${options}</select></label> <label>Find <input type="search" class="find" placeholder="name or operator"></label> <output class="found"></output></p>`,
    html`<div class="legends">${legends}</div>`,
    html`<div class="graphs">${sides.map((side) => drawing(side, classesOf))}</div>`,
    html`<p class="picked faint" role="status">A click on a box, or arrow keys in a drawing, tell what it is and what it became.</p><noscript><p>The drawing needs a script; the tables below say what it shows.</p></noscript>`,
    ...becameTable(sides),
    ...sides.map((side) => html`<div class="boxes of-${side.side}">${boxTable(side, present)}</div>`),
  ];
}

/** What the script draws it from, once the reader comes near: five hundred boxes are four thousand elements. */
function drawing({ side, graph, boxes }: Drawn, classesOf: (box: GraphBox) => readonly string[]): Markup {
  const layout = layOut(
    boxes.map(({ reads }) => reads),
    SIZE,
  );
  const joined = boxes.length < graph.nodes.length ? `, drawn as ${plural(boxes.length, "box")}` : "";
  const description = `The graph ${side}: ${plural(graph.nodes.length, "node")}${joined}, from its inputs at the top to its outputs at the bottom.`;
  const labels = middles(
    boxes.map(({ title, nodes }) => (nodes.length > 1 ? title : title.replace(/^\//, ""))),
    LETTERS + 3,
    tail,
  );
  const shapes = boxes.map((box, i) => {
    const { x, y } = layout.boxes[i]!;
    const many = box.nodes.length > 1;
    return [
      Math.round(x - SIZE.boxWidth / 2),
      Math.round(y - SIZE.boxHeight / 2),
      classesOf(box).join(" "),
      box.parts,
      labels[i]!,
      many ? namesOf(box) : null,
      // What else is told of it stands in the row of the table.
      ...(box.kind.length > LETTERS ? [middle(box.kind, LETTERS)] : []),
    ];
  });
  const drawn = {
    width: Math.ceil(layout.width) + 2 * MARGIN,
    height: Math.ceil(layout.height) + 2 * MARGIN,
    box: [SIZE.boxWidth, SIZE.boxHeight],
    edges: edgePath(layout),
    boxes: shapes,
  };
  return html`<figure class="of-${side}"><figcaption>${side}: ${plural(graph.nodes.length, "node")}${joined}</figcaption><div class="scroll" tabindex="0" role="group" aria-label="${description} Arrow keys go from box to box, Escape leaves it."></div><script type="application/json" class="drawing">${data(drawn)}</script></figure>`;
}

/** All edges in one path: straight lines, bent halfway between layers. */
const edgePath = ({ edges }: Layout): string =>
  edges
    .map((points) =>
      points
        .map(([x, y], i) => {
          if (i === 0) return `M${Math.round(x)} ${Math.round(y)}`;
          const [fromX, fromY] = points[i - 1]!;
          if (Math.round(fromX) === Math.round(x)) return `V${Math.round(y)}`;
          const bend = Math.round((fromY + y) / 2);
          return `C${Math.round(fromX)} ${bend} ${Math.round(x)} ${bend} ${Math.round(x)} ${Math.round(y)}`;
        })
        .join(""),
    )
    .join("");

const MOST_NAMED = 200;

/** What the names have in common, then the rest of each: nodes of one box are of one part of the model. */
function namesOf({ nodes }: GraphBox): string[] {
  const [first = ""] = nodes;
  let same = first.length;
  for (const name of nodes) while (!name.startsWith(first.slice(0, same))) same--;
  const left = nodes.length - MOST_NAMED;
  const ends = nodes.slice(0, MOST_NAMED).map((name) => name.slice(same));
  return [first.slice(0, same), ...ends, ...(left > 0 ? [`... and ${count(left)} more`] : [])];
}

/** The end of a path says which node it is; its operator is told above. Of what stands for the same end of many nothing is left. */
function tail(name: string, width: number): string {
  const told = name.replace(/\/\.\.\.$/, "");
  return told.length <= width ? told : `...${told.slice(3 - width)}`;
}

const precisionTitles = [
  ["q8", "integers", /^[iu](8|16)$/],
  ["qw", "weights as integers", /^w\d+$/],
  ["qh", "half", /^b?f16$/],
  ["qf", "float", /^f(32|64)$/],
] as const;

const precisionClass = (precision: string): string =>
  precisionTitles.find(([, , form]) => form.test(precision))?.[0] ?? "h-";

const MOST_PROVIDERS = 4;

/** More of them than there are colours share the last. */
const providerClass = (provider: string, all: readonly string[]): string =>
  provider === "" ? "h-" : `v${Math.min(all.indexOf(provider), MOST_PROVIDERS - 1)}`;

const providerLegend = (providers: readonly string[]): Markup =>
  key("provider", true, [
    ...providers.map((provider) => areaKey(`box ${providerClass(provider, providers)}`, provider)),
    areaKey("box h-", "not executed by itself"),
  ]);

function precisionLegend(boxes: readonly GraphBox[], isHidden: boolean): Markup {
  const used = new Set(boxes.map(({ precision }) => precisionClass(precision)));
  const swatches = [...precisionTitles.map(([name, title]) => [name, title] as const), ["h-", "others"] as const]
    .filter(([name]) => used.has(name))
    .map(([name, title]) => areaKey(`box ${name}`, title));
  return key("precision", isHidden, swatches);
}

const MOST_PARTS = 200;
const MOST_TOLD = 12;

/** Nodes of both that belong together, where they are not one and the same; those of which nothing is left are one row. */
function becameTable(sides: readonly Drawn[]): Markup[] {
  const [before, after] = sides.map(({ graph }) => graph);
  if (!before || !after) return [];
  const members = ({ parts, nodes, ops }: GraphFacts): Map<number, { name: string; op: string }[]> => {
    const map = new Map<number, { name: string; op: string }[]>();
    for (const [i, part] of parts.entries()) {
      // Conversions are part of their edges here as well.
      if (isConversion(ops[i]!)) continue;
      const list = map.get(part) ?? [];
      list.push({ name: nodes[i]!, op: ops[i]! });
      map.set(part, list);
    }
    return map;
  };
  const [old, now] = [members(before), members(after)];
  const rows = [...new Set([...old.keys(), ...now.keys()])]
    .map((part) => ({ was: old.get(part) ?? [], is: now.get(part) ?? [] }))
    .filter(({ was, is }) => was.length !== is.length || was.some(({ op }, i) => op !== is[i]!.op))
    .sort((a, b) => Math.abs(b.was.length - b.is.length) - Math.abs(a.was.length - a.is.length));
  if (rows.length === 0) return [html`<p class="faint">Both graphs have the same nodes.</p>`];
  const told = (list: readonly { name: string; op: string }[]): string => {
    const left = list.length - MOST_TOLD;
    return `${list
      .slice(0, MOST_TOLD)
      .map(({ op }) => op)
      .join(", ")}${left > 0 ? `, and ${count(left)} more` : ""}`;
  };
  const shown = rows.slice(0, MOST_PARTS);
  const left = rows.length - shown.length;
  const body = folded(
    `What became of what: ${plural(rows.length, "place")}`,
    `Nodes before and after that belong together${left > 0 ? `; ${count(left)} more are not shown` : ""}`,
    shown,
    [
      number("nodes before", ({ was }) => was.length, count),
      number("after", ({ is }) => is.length, count),
      text("were", ({ was }) => told(was)),
      text("are now", ({ is }) => told(is) || "computed ahead, or not needed"),
      text("the last of them", ({ was, is }) => (is.at(-1) ?? was.at(-1))!.name),
    ],
  );
  const first = rows.find(({ is }) => is.length > 0);
  const sentence =
    first && first.is.length > 0 && first.was.length > first.is.length
      ? html`<p>For one, ${plural(first.was.length, "node")} became ${count(first.is.length)}: ${first.is.at(-1)!.name}.</p>`
      : null;
  return [...(sentence ? [sentence] : []), body];
}

function boxTable({ side, boxes }: Drawn, present: readonly Measure[]): Markup {
  const own = present.filter(({ of }) => boxes.some((box) => of(box) !== null));
  const columns: Column<GraphBox>[] = [
    text("name", ({ title }) => title),
    text("operator", ({ kind }) => kind),
    ...(boxes.some(({ precision }) => precision !== "")
      ? [text<GraphBox>("precision", ({ precision }) => precision)]
      : []),
    ...(boxes.some(({ provider }) => provider !== "") ? [text<GraphBox>("provider", ({ provider }) => provider)] : []),
    ...own.map(({ title, of, show }) => number<GraphBox>(title, of, show)),
  ];
  return folded(`The graph ${side} as a table`, `Boxes of the graph ${side}, in execution order`, boxes, columns);
}

function inMs(ms: number): string {
  return `${milliseconds(ms)} ms`;
}

function inDb(db: number): string {
  return `${significant(db)} dB`;
}
