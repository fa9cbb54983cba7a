/** What was decided and why: passes, candidates, corrections, nodes that stayed as they were. */
import type { DecisionRow } from "../../report/decision-rows.js";
import { printable } from "../../report/escape.js";
import { plural } from "../../report/numbers.js";
import { decisionsShown } from "../book.js";
import { type ListColumn, list } from "../list.js";
import { type ListScreen, searchKeys } from "../screen.js";
import { paragraph, titled } from "./rows.js";

export const decisions: ListScreen = {
  kind: "list",
  name: "decisions",
  title: "Decisions",
  about:
    "Passes that changed something and nodes they left, candidates, corrections, and nodes kept in float. Filter by a node, a pass or a word of a reason.",
  hasFilter: true,
  keys: ({ decisions: rows }) => (rows.length > 0 ? searchKeys : []),
  count: (book, { places }) => decisionsShown(book, places.decisions.filter).length,
  visible: ({ height }) => height - 2,
  body: ({ book, state, look, width, height }) => {
    if (book.decisions.length === 0) {
      return paragraph(
        `\`${book.result.command}\` decides nothing: it only measures. \`infer-opt fuse\`, \`quantize\` and \`optimize\` do.`,
        width,
      );
    }
    const place = state.places.decisions;
    const rows = decisionsShown(book, place.filter);
    const found =
      place.filter === ""
        ? plural(rows.length, "decision")
        : `${rows.length} of ${plural(book.decisions.length, "decision")} with "${printable(place.filter)}"`;
    return [look.faint(found.slice(0, width)), ...list(rows, columns, place, { width, height: height - 1, look })];
  },
  detail: ({ book, state, width }, index) => {
    const { kind, name, what, details } = decisionsShown(book, state.places.decisions.filter)[index]!;
    return [
      ...titled(kind, name, width),
      ...titled("", what, width),
      ...details.flatMap((text) => titled("", text, width)),
    ];
  },
};

const columns: readonly ListColumn<DecisionRow>[] = [
  { title: "about", cell: ({ kind }) => kind, rank: 2 },
  { title: "name", cell: ({ name }) => printable(name), rank: 0, least: 14 },
  { title: "decision", cell: ({ what }) => printable(what), rank: 0, least: 16, isText: true },
];
