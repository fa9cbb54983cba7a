/** `show`: a model as stable text, to read, to compare as a diff, and to paste into a bug report. */
import { loadModel, opsetOf, type PrintOptions, printGraph, quote } from "../ir/index.js";

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
