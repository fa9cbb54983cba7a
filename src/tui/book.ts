/** A result opened for reading: what its screens show, worked out once. */
import type { RunResult } from "../pipeline/result.js";
import { type DecisionRow, decisionRows } from "../report/decision-rows.js";
import { type CandidatePoint, candidatePoints } from "../report/pareto.js";
import { type LayerEntry, type LayerOrder, layerEntries, orderLayers } from "./layer-entries.js";

export interface Book {
  readonly result: RunResult;
  /** Of the file, as the user named it. */
  readonly path: string;
  /** The command that gave the result; null where nobody knows. */
  readonly commandLine: string | null;
  readonly layers: readonly LayerEntry[];
  readonly candidates: readonly CandidatePoint[];
  readonly decisions: readonly DecisionRow[];
}

export const openBook = (result: RunResult, path: string, commandLine: string | null): Book => ({
  ...{ result, path, commandLine },
  layers: layerEntries(result),
  candidates: candidatePoints(result),
  decisions: decisionRows(result),
});

const matches = (words: readonly string[], filter: string): boolean => {
  const text = words.join(" ").toLowerCase();
  return filter
    .toLowerCase()
    .split(" ")
    .every((part) => text.includes(part));
};

/** With the last answer kept: a key asks for the same rows several times, and most keys change none of them. */
function remembered<Asked extends readonly unknown[], Row>(
  rowsOf: (book: Book, ...asked: Asked) => readonly Row[],
): (book: Book, ...asked: Asked) => readonly Row[] {
  const last = new WeakMap<Book, { readonly asked: Asked; readonly rows: readonly Row[] }>();
  return (book, ...asked) => {
    const known = last.get(book);
    if (known?.asked.every((each, i) => each === asked[i])) return known.rows;
    const rows = rowsOf(book, ...asked);
    last.set(book, { asked, rows });
    return rows;
  };
}

export const layersShown = remembered(({ layers }, order: LayerOrder, filter: string): readonly LayerEntry[] =>
  orderLayers(
    layers.filter(({ node, op, form, reason, nodes }) => matches([node, op, form, reason, ...nodes], filter)),
    order,
  ),
);

export const decisionsShown = remembered(({ decisions }, filter: string): readonly DecisionRow[] =>
  decisions.filter(({ kind, name, what, details }) => matches([kind, name, what, ...details], filter)),
);
