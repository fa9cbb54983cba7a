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

export const layersShown = ({ layers }: Book, order: LayerOrder, filter: string): LayerEntry[] =>
  orderLayers(
    layers.filter(({ node, op, form, reason, nodes }) => matches([node, op, form, reason, ...nodes], filter)),
    order,
  );

export const decisionsShown = ({ decisions }: Book, filter: string): readonly DecisionRow[] =>
  decisions.filter(({ kind, name, what, details }) => matches([kind, name, what, ...details], filter));
