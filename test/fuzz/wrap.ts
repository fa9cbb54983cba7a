/** Puts the last nodes of a graph into a body: what passes do to a graph they must do, or leave, in there. */
import { attr, Graph, Tensor, type Value } from "../../src/ir/index.js";
import { Captures, copyNode } from "../../src/rewrite/index.js";
import type { Chance } from "./chance.js";

/** The end of the graph becomes the branches of an If or the body of a Loop that collects what it computes. */
export function wrapEnd(graph: Graph, chance: Chance): void {
  const nodes = [...graph.nodes()];
  if (nodes.length === 0) return;
  const moved = nodes.slice(chance.below(nodes.length));
  const made = new Set(moved.flatMap(({ outputs }) => outputs));
  const ports = graph.outputs.filter(({ value }) => made.has(value));
  if (ports.length === 0 || moved.some(({ bodies }) => bodies.length > 0)) return;

  /** A copy of the nodes, with an extra step at the end in one of two branches. */
  const bodyOf = (extra: boolean, body = new Graph()): Graph => {
    const values = new Captures();
    for (const node of moved) copyNode(node, body, values);
    ports.forEach(({ name, value }, i) => {
      const inner = values.get(value);
      const isLast = extra && i === 0;
      const step = isLast
        ? body.addNode({ op: "Identity", inputs: [inner], outputs: [{ label: `${name}_x` }] }).output
        : inner;
      body.addOutput(`${name}_b${extra ? 1 : 0}`, step);
    });
    return body;
  };
  const outputs = ports.map(({ name }) => ({ label: `${name}_w` }));
  const made2 = chance.one(0.5) ? branch() : loop();
  ports.forEach(({ name }, i) => {
    graph.removeOutput(name);
    graph.addOutput(name, made2.outputs[i]!);
  });
  for (const node of moved.reverse())
    if (node.outputs.every((output) => !output || output.useCount === 0)) graph.removeNode(node);

  function condition(): Value {
    const constant = () => graph.addConstant("c_w", Tensor.ofArray("bool", [], Uint8Array.of(chance.below(2))));
    return chance.one(0.4) ? constant() : graph.addInput("cond", { dtype: "bool", shape: [] });
  }

  function branch() {
    const attributes = { then_branch: attr.graph(bodyOf(false)), else_branch: attr.graph(bodyOf(true)) };
    return graph.addNode({ op: "If", inputs: [condition()], attributes, outputs });
  }

  function loop() {
    const body = new Graph();
    body.addInput("i_w", { dtype: "i64", shape: [] });
    const on = body.addInput("k_w", { dtype: "bool", shape: [] });
    body.addOutput("on_w", body.addNode({ op: "Identity", inputs: [on], outputs: [{ label: "on_x" }] }).output);
    bodyOf(chance.one(0.5), body);
    // Of a Loop that never runs the runtime makes up the sizes that it could not infer, and passes make it infer more.
    const trips = chance.one(0.5)
      ? graph.addConstant("n_w", Tensor.i64([], [chance.between(1, 3)]))
      : graph.addNode({
          op: "Add",
          inputs: [
            graph.addInput("trips", { dtype: "i64", shape: [] }),
            graph.addConstant("one_w", Tensor.i64([], [1])),
          ],
          outputs: [{ label: "trips_w" }],
        }).output;
    return graph.addNode({ op: "Loop", inputs: [trips, null], attributes: { body: attr.graph(body) }, outputs });
  }
}
