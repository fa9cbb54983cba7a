/** Everything that was decided, in the order in which it was: passes, nodes they left, corrections, nodes kept in float. */
import { changeOf } from "../pipeline/correct/corrections.js";
import type { RunResult } from "../pipeline/result.js";
import { candidateWhy } from "./candidate-why.js";
import { count, plural, significant } from "./numbers.js";

export interface DecisionRow {
  readonly kind: "pass" | "left" | "correction" | "float" | "candidate";
  /** Of the pass, the node or the correction. */
  readonly name: string;
  readonly what: string;
  readonly details: readonly string[];
}

export function decisionRows(result: RunResult): DecisionRow[] {
  const { passes, unfused = [], quantization, unquantized, precision, candidates } = result;
  const active = passes.filter(({ applied, rejected }) => applied > 0 || rejected !== undefined);
  const idle = passes.filter((pass) => !active.includes(pass) && pass.skipped.length > 0);
  const passRows = [...active, ...idle].map(({ name, applied, skipped, rejected, durationMs }): DecisionRow => {
    const parts = [
      applied > 0 ? `applied ${count(applied)}x` : rejected === undefined ? "changed nothing" : "",
      rejected === undefined ? "" : `undone${applied > 0 ? " in part" : ""}: ${rejected}`,
      skipped.length > 0 ? `left ${plural(skipped.length, "node")}` : "",
      `${significant(durationMs)} ms`,
    ];
    return {
      ...{ kind: "pass", name, what: parts.filter((part) => part !== "").join(", ") },
      details: skipped.map(({ node, reason }) => `${node}: ${reason}`),
    };
  });
  const left = new Map(unfused.map(({ node, pass, reason }) => [node, { pass, reason }]));
  for (const { name, skipped } of passes) {
    for (const { node, reason } of skipped) if (!left.has(node)) left.set(node, { pass: name, reason });
  }
  const leftRows = [...left].map(
    ([node, { pass, reason }]): DecisionRow => ({
      ...{ kind: "left", name: node, what: reason, details: pass ? [`looked at by ${pass}`] : [] },
    }),
  );
  const corrections = (quantization?.corrections ?? []).map(
    (facts): DecisionRow => ({
      ...{ kind: "correction", name: facts.correction, details: [facts.detail] },
      what: [facts.isKept ? "kept" : "left out", changeOf(facts, significant), facts.detail]
        .filter((part) => part !== "")
        .join(", "),
    }),
  );
  const float = [
    ...(quantization?.float ?? []),
    ...(unquantized?.float ?? []),
    ...(quantization?.integers?.float ?? []),
    ...(precision?.float ?? []),
  ].map(({ node, op, reason }): DecisionRow => ({ kind: "float", name: node, what: reason, details: [op] }));
  const tried = candidates.map((candidate): DecisionRow => {
    const why = candidateWhy(candidate, result);
    const said = `${candidate.chosen ? "taken" : "not taken"}${why === "" || why === "chosen" ? "" : `: ${why}`}`;
    return { kind: "candidate", name: candidate.name, what: said, details: [] };
  });
  return [...passRows, ...tried, ...corrections, ...float, ...leftRows];
}
