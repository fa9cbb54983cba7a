/** `explain MODEL --node GLOB`: everything about the nodes that a glob means, of the model as it was and as it is. */
import { nodesWithin } from "../../ir/index.js";
import type { AnyPass } from "../../rewrite/index.js";
import { globMatcher } from "../select.js";
import type { ExplainedNode } from "./explain.js";
import type { Rewritten } from "./explain-model.js";

/** Nodes of the rewritten graph that the glob names, or that stand for such; then those that are gone. */
export function explainNodes(
  { model, originals, changes, reports }: Rewritten,
  glob: string,
  passes: readonly AnyPass[],
): readonly ExplainedNode[] {
  const matches = globMatcher(glob);
  const declined = new Map<string, Map<string, string>>();
  for (const { name, skipped } of reports) {
    for (const { node, reason } of skipped) {
      const reasons = declined.get(node) ?? new Map<string, string>();
      declined.set(node, reasons.set(name, reason));
    }
  }
  const ran = new Set(reports.map(({ name }) => name));
  const changedAt = (names: readonly string[]): string[] => {
    const found = new Set(names.flatMap((name) => [...(changes.get(name) ?? [])]));
    return passes.map(({ name }) => name).filter((name) => found.has(name));
  };
  const nodes = [...nodesWithin(model.graph)];
  const accounted = new Set<string>(nodes.flatMap(({ displayName, provenance }) => [displayName, ...provenance]));
  const remaining = nodes
    .filter(({ displayName, provenance }) => matches(displayName) || provenance.some(matches))
    .map((node): ExplainedNode => {
      const { displayName, opName, provenance } = node;
      const reasons = declined.get(displayName);
      return {
        node: displayName,
        op: opName,
        remains: true,
        standsFor: provenance.some((name) => name !== displayName) ? provenance : [],
        changedBy: changedAt([displayName, ...provenance]),
        asked: passes
          .filter((pass) => ran.has(pass.name) && (reasons?.has(pass.name) || looksAt(pass, opName)))
          .map(({ name }) => ({ pass: name, answer: reasons?.get(name) ?? null })),
      };
    });
  const gone = [...originals]
    .filter(([name]) => matches(name) && !accounted.has(name))
    .map(
      ([name, op]): ExplainedNode => ({
        node: name,
        op,
        remains: false,
        standsFor: [],
        changedBy: changedAt([name]),
        asked: [],
      }),
    );
  return [...remaining, ...gone];
}

const looksAt = (pass: AnyPass, op: string): boolean => pass.kind === "rewrite" && pass.roots.includes(op);
