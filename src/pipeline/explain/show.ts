/** `show`: a model as stable text, to read, to compare as a diff, and to paste into a bug report. */
import { loadModel, nodesWithin, opsetOf, type PrintOptions, printGraph, quote } from "../../ir/index.js";

/** Two comment lines (versions, model functions) and the graph. Throws what loading throws. */
export function showModel(path: string, options: PrintOptions = {}): string {
  const model = loadModel(path);
  const others = [...model.opsets]
    .filter(([domain]) => domain !== "")
    .map(([domain, version]) => `, ${quote(domain)} ${version}`);
  const head = [`# ir version ${model.irVersion}, opset ${opsetOf(model)}${others.join("")}`];
  if (model.functions.size > 0) head.push(`# functions: ${[...model.functions].map(quote).join(", ")}`);
  return `${[...head, printGraph(model.graph, options)].join("\n")}\n`;
}

/** What --include and --exclude can name in a model: its named nodes, and `op:Type` for each operator. */
export function selectable(path: string): readonly string[] {
  const nodes = [...nodesWithin(loadModel(path).graph)];
  const types = [...new Set(nodes.map(({ op }) => op))].sort();
  return [...new Set(nodes.flatMap(({ name }) => (name ? [name] : []))), ...types.map((op) => `op:${op}`)];
}
