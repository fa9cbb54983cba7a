/**
 * Numbers of nodes for Google's Model Explorer: one file for each measure, keyed by graph and by the tensor that a node
 * makes, which its ONNX adapter matches.
 */
import type { GraphFacts } from "../pipeline/inspect/graph-facts.js";
import type { RunResult } from "../pipeline/result.js";
import { beforeRows, type LayerRow, layerRows } from "./layer-rows.js";

export interface NodeDataFile {
  /** What stands before the ending of the file's name. */
  readonly measure: string;
  readonly text: string;
}

const gradients = {
  more: [stop(0, "#f6f8fa"), stop(1, "#0b5fb0")],
  less: [stop(0, "#b3261e"), stop(0.5, "#f6d98b"), stop(1, "#f6f8fa")],
  both: [stop(0, "#b3261e"), stop(0.5, "#f6f8fa"), stop(1, "#0a6b35")],
};

const measures: readonly {
  readonly name: string;
  readonly of: (row: LayerRow) => number | null;
  readonly gradient: keyof typeof gradients;
}[] = [
  { name: "ms-before", of: ({ beforeMs }) => beforeMs, gradient: "more" },
  { name: "ms-after", of: ({ afterMs }) => afterMs, gradient: "more" },
  { name: "ms-saved", of: ({ savedMs }) => savedMs, gradient: "both" },
  { name: "sqnr-db", of: ({ sqnrDb }) => sqnrDb, gradient: "less" },
  { name: "bits", of: ({ precision }) => bitsOf(precision), gradient: "more" },
  { name: "weight-bytes", of: ({ weightBytes }) => weightBytes, gradient: "more" },
];

/** None where the result says nothing of nodes whose tensors it knows. Both models are in the same file. */
export function nodeDataFiles(result: RunResult): NodeDataFile[] {
  const { graphs } = result;
  if (!graphs) return [];
  const sides: (readonly [GraphFacts, readonly LayerRow[]])[] = [
    ...(graphs.after ? [[graphs.after, layerRows(result)] as const] : []),
    ...(graphs.before ? [[graphs.before, beforeRows(result)] as const] : []),
  ];
  return measures.flatMap(({ name, of, gradient }) => {
    const byGraph = new Map<string, { results: Record<string, { value: number }>; gradient: object }>();
    for (const [graph, rows] of sides) {
      const found = rows.flatMap((row) => {
        const value = of(row);
        return value === null || row.value === "" ? [] : [[row.value, { value }] as const];
      });
      // Both files often have a graph of the same name: the result's own numbers count.
      const id = graph.name || "<main>";
      if (found.length > 0 && !byGraph.has(id))
        byGraph.set(id, { results: Object.fromEntries(found), gradient: gradients[gradient] });
    }
    if (byGraph.size === 0) return [];
    return [{ measure: name, text: `${JSON.stringify(Object.fromEntries(byGraph), null, 1)}\n` }];
  });
}

/** Of the numbers that it works with: 32, 16, 8, 4; null where that is not known. */
const bitsOf = (precision: string): number | null => {
  const digits = /^(?:b?f|[iuw])(\d+)/.exec(precision)?.[1];
  return digits === undefined ? null : Number(digits);
};

function stop(at: number, bgColor: string): object {
  return { stop: at, bgColor };
}
