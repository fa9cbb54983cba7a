/**
 * The nodes that a person would expect to be fused and that are still there, each once, with
 * the most specific reason: what a pass said when it declined, or else what stands in the
 * way by the catalogue of expectations.
 */
import { type Model, type Node, nodesWithin, opsetOf } from "../../ir/index.js";
import type { SkippedNode } from "../../rewrite/index.js";
import type { Expectation, Finding } from "./expectation.js";
import { formulaExpectations } from "./formulas.js";
import { leftoverExpectations } from "./leftovers.js";
import { linearExpectations } from "./linear.js";
import { shapeExpectations } from "./shapes.js";

export interface UnfusedNode {
  readonly node: string;
  readonly op: string;
  /** The pass that declined or was expected to do it; null where there is none. */
  readonly pass: string | null;
  readonly reason: string;
  /** Names: who else reads it, what feeds it. */
  readonly detail?: string;
  /** The flag that would change it. */
  readonly help?: string;
}

/** What is known about the passes of a run. */
export interface PassWord {
  readonly name: string;
  readonly skipped: readonly SkippedNode[];
  /** Why it did not run, or its work was undone. */
  readonly absent?: string;
}

/** In this order: what explains several nodes at once comes first. */
const expectations: readonly Expectation[] = [
  ...formulaExpectations,
  ...linearExpectations,
  ...shapeExpectations,
  ...leftoverExpectations,
];

/** They walk far from their constant: what they decline, nobody expects who sees no constant beside a linear node. */
const walkers = new Set(["fuse-arithmetic-up", "fuse-arithmetic-down"]);

interface Told {
  readonly pass: string;
  readonly reason: string;
}

/** @param passes those of the recipe: what is expected of others is not looked for */
export function findUnfused(model: Model, passes: readonly PassWord[]): readonly UnfusedNode[] {
  const told = new Map<string, Told[]>();
  for (const { name, skipped } of passes) {
    for (const { node, reason } of skipped) {
      const list = told.get(node);
      if (list) list.push({ pass: name, reason });
      else told.set(node, [{ pass: name, reason }]);
    }
  }
  const known = new Map(passes.map((pass) => [pass.name, pass]));
  const wanted = expectations.filter((each) => each.passes.length === 0 || each.passes.some((name) => known.has(name)));
  const scene = { model, opset: opsetOf(model) };
  const nodes = [...nodesWithin(model.graph)];
  const found = new Map<Node, UnfusedNode>();
  const covered = new Set<Node>();
  for (const expectation of wanted) {
    const ops = expectation.ops === "*" ? null : new Set(expectation.ops);
    for (const node of nodes) {
      if (covered.has(node) || (ops && (node.domain !== "" || !ops.has(node.op)))) continue;
      const finding = expectation.look(node, scene);
      if (!finding) continue;
      covered.add(node);
      for (const part of finding.parts ?? []) covered.add(part);
      found.set(node, entryOf(node, finding, expectation, told, known));
    }
  }
  // What passes declined, and no expectation is about.
  for (const node of nodes) {
    const first = told.get(node.displayName)?.find(({ pass }) => !walkers.has(pass));
    if (first && !covered.has(node)) found.set(node, { node: node.displayName, op: node.opName, ...first });
  }
  return nodes.flatMap((node) => found.get(node) ?? []);
}

/** What helps against reasons that passes give. */
const remedies: readonly (readonly [reason: RegExp, help: string])[] = [
  [/^folding it would add more than the budget/, "--fold-budget lets the file grow by more"],
];
const remedyOf = (reason: string): string | undefined => remedies.find(([pattern]) => pattern.test(reason))?.[1];

function entryOf(
  node: Node,
  { reason, detail, help, pass, parts = [] }: Finding,
  { passes }: Expectation,
  told: ReadonlyMap<string, readonly Told[]>,
  known: ReadonlyMap<string, PassWord>,
): UnfusedNode {
  const said = [node, ...parts].flatMap(({ displayName }) => told.get(displayName) ?? []);
  const word = passes.map((name) => said.find((each) => each.pass === name)).find((each) => each !== undefined);
  const main = pass ?? passes.find((name) => known.has(name)) ?? null;
  const absent = main === null ? undefined : known.get(main)?.absent;
  const why: { pass: string | null; reason: string } =
    absent !== undefined ? { pass: main, reason: `${main}: ${absent}` } : (word ?? { pass: main, reason });
  const remedy = remedyOf(why.reason) ?? help;
  return {
    node: node.displayName,
    op: node.opName,
    ...why,
    ...(detail !== undefined && { detail }),
    ...(remedy !== undefined && { help: remedy }),
  };
}
