/** Where time and accuracy go, layer by layer; what is marked here goes into a list for `--exclude`. */
import { basename, dirname, extname, join } from "node:path";
import { printable } from "../../report/escape.js";
import { bytes, milliseconds, optional, plural, significant } from "../../report/numbers.js";
import { excludeList } from "../../report/reproduce.js";
import { layersShown } from "../book.js";
import { type LayerEntry, ordersOf, savedMs } from "../layer-entries.js";
import { type ListColumn, list } from "../list.js";
import { type ListScreen, type Outcome, type Scene, searchKeys } from "../screen.js";
import { placeOf, type State } from "../state.js";
import { paragraph, titled } from "./rows.js";

const shown = ({ book, state }: Pick<Scene, "book" | "state">): readonly LayerEntry[] =>
  layersShown(book, state.order, state.places.layers.filter);

export const layers: ListScreen = {
  kind: "list",
  name: "layers",
  title: "Layers",
  about:
    "Nodes with what goes with them: time before and after, SQNR of the outputs when they alone are integers, and why they are as they are. Mark what should stay in float, and write the list that does it.",
  hasFilter: true,
  keys: ({ layers: rows }, { order, marked }) => {
    if (rows.length === 0) return [];
    const write = ["w", "write list"] as const;
    // The last ones go where there is no room: what was marked wants to be written.
    return [
      ...(marked.size > 0 ? [write] : []),
      ...(ordersOf(rows).length > 1 ? [["s", `sort: ${order}`] as const] : []),
      ...searchKeys,
      ["x", "keep float"],
      ...(marked.size > 0 ? [] : [write]),
    ];
  },
  count: (book, state) => shown({ book, state }).length,
  visible: ({ height }) => height - 2,
  body: (scene) => {
    const { book, state, look, width, height } = scene;
    if (book.layers.length === 0) return paragraph(none(scene), width);
    const rows = shown(scene);
    const { filter } = placeOf(state);
    const found =
      filter === ""
        ? plural(rows.length, "row")
        : `${rows.length} of ${plural(book.layers.length, "row")} with "${printable(filter)}"`;
    const marked = state.marked.size === 0 ? "" : `, ${state.marked.size} marked`;
    return [
      look.faint(`${found}${sorted(rows, state)}${marked}`.slice(0, width)),
      ...list(rows, columns(rows, state), placeOf(state), { width, height: height - 1, look }),
    ];
  },
  detail: (scene, index) => detail(scene, shown(scene)[index]!),
  press: (key, book, state) => {
    switch (key) {
      case "s": {
        const orders = ordersOf(book.layers);
        const order = orders[(orders.indexOf(state.order) + 1) % orders.length];
        return order === undefined ? { state } : { state: { ...state, order } };
      }
      case "x":
        return mark(shown({ book, state })[placeOf(state).cursor], state);
      case "w":
        return write(book, state);
      default:
        return null;
    }
  },
};

/** Where nothing is known to sort by, they are as the result has them. */
const sorted = (rows: readonly LayerEntry[], { order }: State): string =>
  ordersOf(rows).includes(order) ? `, most ${words[order]} first` : "";

const words = { time: "time", saved: "time saved", error: "error", bytes: "bytes" } as const;

const none = ({ book: { result } }: Scene): string =>
  `Nothing is known of single layers: \`${result.command}\` did not look at them. ` +
  "`infer-opt profile MODEL --report result.json` times them, `infer-opt quantize` finds which of them pay as integers, " +
  "and `infer-opt verify --layers` tells where two models part.";

function columns(rows: readonly LayerEntry[], { marked, order }: State): ListColumn<LayerEntry>[] {
  /** What is sorted by stays as long as anything does. */
  const rank = (by: State["order"], usual: number): number => (order === by ? 1 : usual);
  const title = (text: string, by: State["order"]): string => (order === by ? `${text} v` : text);
  const all: (ListColumn<LayerEntry> & { readonly has: (row: LayerEntry) => boolean })[] = [
    { title: "", cell: ({ node }) => (marked.has(node) ? "x" : " "), rank: 0, has: () => marked.size > 0 },
    { title: "layer", cell: ({ node }) => printable(node), rank: 0, least: 22, has: () => true },
    { title: "operator", cell: ({ op }) => printable(op), rank: 7, has: ({ op }) => op !== "" },
    { title: "form", cell: ({ form }) => printable(form), rank: 3, has: ({ form }) => form !== "" },
    {
      title: "ms before",
      cell: ({ beforeMs }) => milliseconds(beforeMs),
      isNumber: true,
      rank: 5,
      has: ({ beforeMs }) => beforeMs !== null,
    },
    {
      title: title("ms", "time"),
      cell: ({ afterMs }) => milliseconds(afterMs),
      isNumber: true,
      rank: rank("time", 1),
      has: ({ afterMs }) => afterMs !== null,
    },
    {
      title: title("saved", "saved"),
      cell: (row) => optional(savedMs(row), milliseconds),
      isNumber: true,
      rank: rank("saved", 2),
      has: (row) => savedMs(row) !== null,
    },
    {
      title: title("SQNR dB", "error"),
      cell: ({ sqnrDb }) => significant(sqnrDb),
      isNumber: true,
      rank: rank("error", 4),
      has: ({ sqnrDb }) => sqnrDb !== null,
    },
    {
      title: title("bytes", "bytes"),
      cell: (row) => optional(row.weightBytes, bytes),
      isNumber: true,
      rank: rank("bytes", 6),
      has: (row) => row.weightBytes !== null,
    },
    {
      title: "why",
      cell: ({ reason }) => printable(reason),
      rank: 8,
      least: 16,
      isText: true,
      has: ({ reason }) => reason !== "",
    },
  ];
  // A column that says nothing in any row is left out.
  return all.filter(({ has }) => rows.some(has));
}

function detail({ book: { result }, state, width }: Scene, row: LayerEntry): string[] {
  const { node, op, form, nodes, beforeMs, afterMs, sqnrDb, reason } = row;
  const of = new Set([node, ...nodes]);
  const said = result.passes.flatMap(({ name: pass, skipped }) =>
    skipped.filter((each) => of.has(each.node)).map((each) => `${pass} left ${each.node}: ${each.reason}`),
  );
  const saved = savedMs(row);
  const unknown = "not measured: no search looked at this layer alone";
  const facts: (readonly [string, string])[] = [
    ["layer", node],
    ...(op === "" ? [] : [["operator", op] as const]),
    ...(form === "" ? [] : [["form", form + (state.marked.has(node) ? ", marked to stay float" : "")] as const]),
    ["time before", beforeMs === null ? "not measured" : `${milliseconds(beforeMs)} ms`],
    ["time after", afterMs === null ? "not measured" : `${milliseconds(afterMs)} ms`],
    ...(saved === null ? [] : [["saved", `${milliseconds(saved)} ms`] as const]),
    ["SQNR", sqnrDb === null ? unknown : `${significant(sqnrDb)} dB`],
    ...(row.weightBytes === null ? [] : [["bytes", bytes(row.weightBytes)] as const]),
    ...(reason === "" ? [] : [["why", reason] as const]),
    ...(nodes.length > 1 ? [["with it", nodes.filter((each) => each !== node).join(", ")] as const] : []),
    ...said.map((text) => ["left", text] as const),
  ];
  return facts.flatMap(([title, text]) => titled(title, text, width));
}

function mark(row: LayerEntry | undefined, state: State): Outcome {
  if (!row) return { state };
  if (row.form === "float") return { state: { ...state, notice: `${printable(row.node)} is in float already` } };
  const marked = new Set(state.marked);
  if (!marked.delete(row.node)) marked.add(row.node);
  return { state: { ...state, marked } };
}

const quantizing = ["quantize", "optimize"];

function write({ result, path, commandLine }: Parameters<NonNullable<ListScreen["press"]>>[1], state: State): Outcome {
  const notice = (text: string): Outcome => ({ state: { ...state, notice: text } });
  if (state.marked.size === 0) return notice("nothing is marked: x marks the layer under the cursor");
  if (!quantizing.includes(result.command))
    return notice(`\`${result.command}\` puts nothing on integers: a list would change nothing`);
  const file = join(dirname(path), `${basename(path, extname(path))}.exclude.json`);
  const { text, command } = excludeList(result, [...state.marked], file, commandLine);
  const message = [
    `${plural(state.marked.size, "layer")} to stay in float, written to ${file}. To use it:`,
    "",
    command,
  ];
  return { state: { ...state, message }, effect: { type: "write", path: file, text } };
}
