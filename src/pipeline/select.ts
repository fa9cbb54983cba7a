/**
 * Which nodes `--include` and `--exclude` mean:
 *
 *   /encoder/layer.3/MatMul       a name, exactly
 *   /encoder/layer.3/*            a glob: * for any text, ? for one character
 *   op:MatMul                     every node of an operator (com.microsoft::Gelu with its domain)
 *   from:/stem/Conv..to:/head/Add the nodes on any path from one node or value to another
 *
 * Nodes answer to their own name and to those of the nodes of the user's model that they
 * stand for, so a fused node is found by any of its parts.
 */
import { InferOptError } from "../base/errors.js";
import { nearestName } from "../base/nearest.js";
import { type Model, type Node, nodesWithin } from "../ir/index.js";
import type { Selection } from "./config.js";
import { nodesBetween } from "./region.js";

/**
 * Names of the nodes that a selector means, bodies included; at least one.
 * @param flag how the selector was given, for the message
 * Throws SELECTOR_EMPTY for one that matches nothing.
 */
export function selectNodes(model: Model, selector: string, flag: string): ReadonlySet<string> {
  const nodes = [...nodesWithin(model.graph)];
  const found = matchesOf(model, nodes, selector, flag);
  if (found.length === 0) throw nothingSelected(selector, flag, namesAsked(nodes, selector), selector);
  return new Set(found.map(({ displayName }) => displayName));
}

/** The reason of what `--include` does not name. */
export const NOT_INCLUDED = "not among those chosen with --include";

/**
 * Nodes that a selection leaves out, by name, with the reason: what is excluded, and what
 * is not included when something is. Throws SELECTOR_EMPTY.
 */
export function leftOut(model: Model, { include, exclude }: Selection): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  if (include.length > 0) {
    const included = new Set(include.flatMap((selector) => [...selectNodes(model, selector, "--include")]));
    for (const { displayName } of nodesWithin(model.graph)) {
      if (!included.has(displayName)) reasons.set(displayName, NOT_INCLUDED);
    }
  }
  for (const selector of exclude) {
    for (const name of selectNodes(model, selector, "--exclude"))
      reasons.set(name, selector === name ? "left out with --exclude" : `left out with --exclude ${selector}`);
  }
  return reasons;
}

function matchesOf(model: Model, nodes: readonly Node[], selector: string, flag: string): readonly Node[] {
  const region = /^from:(.+)\.\.to:(.+)$/s.exec(selector);
  if (region) return regionOf(model, nodes, selector, region[1]!, region[2]!, flag);
  if (selector.startsWith("op:")) {
    const matches = globMatcher(selector.slice("op:".length));
    return nodes.filter(({ op, opName }) => matches(op) || matches(opName));
  }
  const exact = nodes.filter((node) => namesOf(node).includes(selector));
  // Names may hold a * or ? of their own: the exact one comes first.
  if (exact.length > 0) return exact;
  const matches = globMatcher(selector);
  return nodes.filter((node) => namesOf(node).some(matches));
}

function regionOf(
  model: Model,
  nodes: readonly Node[],
  selector: string,
  from: string,
  to: string,
  flag: string,
): readonly Node[] {
  const between = nodesBetween(model.graph, endOf(nodes, from, "from"), endOf(nodes, to, "to"));
  if (between.length > 0) return between;
  throw new InferOptError(
    "SELECTOR_EMPTY",
    "input",
    `${flag} "${selector}" matches no node: no path leads from ${from} to ${to}`,
    {
      hint: "Data flows from the first name to the second: perhaps they are the wrong way round.",
      fields: { flag, selector, from, to },
    },
  );

  /** A node by name; or, for a value, those that read it (`from`) or make it (`to`). */
  function endOf(among: readonly Node[], name: string, end: "from" | "to"): readonly Node[] {
    const named = among.filter((node) => namesOf(node).includes(name));
    if (named.length > 0) return named;
    const touching = among.filter((node) =>
      (end === "from" ? node.inputs : node.outputs).some((value) => value?.label === name),
    );
    if (touching.length > 0) return touching;
    const values = among.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].map((value) => value?.label ?? ""));
    throw nothingSelected(selector, flag, [...among.flatMap(namesOf), ...values.filter((label) => label !== "")], name);
  }
}

const namesOf = (node: Node): readonly string[] => [node.displayName, ...node.provenance];

/** `*` is any text, slashes included; `?` one character. */
export function globMatcher(glob: string): (name: string) => boolean {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  const pattern = new RegExp(`^${source}$`, "su");
  return (name) => pattern.test(name);
}

const namesAsked = (nodes: readonly Node[], selector: string): readonly string[] =>
  selector.startsWith("op:") ? nodes.map(({ opName }) => `op:${opName}`) : nodes.flatMap(namesOf);

const NEAREST = 3;

function nothingSelected(selector: string, flag: string, names: readonly string[], wanted: string): InferOptError {
  const nearest = nearestNames(wanted, names);
  const missing = wanted === selector ? "" : `: there is no node or value "${wanted}"`;
  return new InferOptError("SELECTOR_EMPTY", "input", `${flag} "${selector}" matches no node${missing}`, {
    hint:
      nearest.length === 0
        ? "The model has no nodes."
        : `The nearest ${nearest.length === 1 ? "name is" : "names are"} ${nearest.join(", ")}.`,
    fields: { flag, selector, nearest },
  });
}

function nearestNames(wanted: string, names: readonly string[]): readonly string[] {
  const left = new Set(names);
  const nearest: string[] = [];
  while (nearest.length < NEAREST) {
    const name = nearestName(wanted, left);
    if (name === null) break;
    left.delete(name);
    nearest.push(name);
  }
  return nearest;
}
