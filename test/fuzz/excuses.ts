/** What the runtime does by itself to a model that no rewrite can be blamed for. */
import { attr, type Graph, type Model, nodesWithin, Tensor, type Value } from "../../src/ir/index.js";
import { annotateTypes } from "../../src/rewrite/index.js";
import { type FuzzCase, modelOf } from "./fuzz-case.js";
import { bytesOf, describeModel, type Feeds, Refusal, runEach } from "./session.js";
import { sweep } from "./shrink.js";

/**
 * The file of a model whose half-precision results are each rounded once more, up or down by what they happen to be: the
 * runtime computes them in float32 and rounds only some, and other ones once a node less stands between them.
 */
export async function withHalfNoise(original: Model, trial: number): Promise<Uint8Array> {
  const { graph } = original;
  await annotateTypes(original, describeModel);
  const halves = [...graph.nodes()].flatMap(({ outputs }) => outputs.filter((value) => value?.dtype === "f16"));
  if (halves.length === 0) return bytesOf(original);
  const undo = halves.map((value) => noisy(graph, value!, trial));
  try {
    return bytesOf(original);
  } finally {
    for (const take of undo.reverse()) take();
  }
}

/** v * (1 + 2^-11 * Sin(9973 * v + trial)), in float32 */
function noisy(graph: Graph, value: Value, trial: number): () => void {
  const after = nodeAfter(value);
  const made: ReturnType<Graph["addNode"]>[] = [];
  const constants: Value[] = [];
  const add = (op: string, inputs: Value[], attributes = {}): Value => {
    const node = graph.addNode(
      { op, inputs, attributes, outputs: [{ label: `noise${graph.constants.length}` }] },
      after,
    );
    made.push(node);
    return node.output;
  };
  const number = (each: number): Value => {
    const constant = graph.addConstant("noise", Tensor.f32([], [each]));
    constants.push(constant);
    return constant;
  };
  const wide = add("Cast", [value], { to: attr.int(1) });
  const reader = made[0]!;
  const phase = add("Add", [add("Mul", [wide, number(9973)]), number(trial)]);
  const factor = add("Add", [add("Mul", [add("Sin", [phase]), number(2 ** -11)]), number(1)]);
  const rounded = add("Cast", [add("Mul", [wide, factor])], { to: attr.int(10) });
  graph.replaceUses(value, rounded);
  graph.setInput(reader, 0, value);
  return () => {
    graph.replaceUses(rounded, value);
    for (const node of made.reverse()) graph.removeNode(node);
    for (const constant of constants) graph.removeConstant(constant);
  };
}

function nodeAfter(value: Value): ReturnType<Graph["addNode"]> | undefined {
  const nodes = [...value.graph.nodes()];
  return nodes[nodes.indexOf(value.producer!) + 1];
}

/**
 * Whether the body of a Scan gives out what none of its nodes computes. The runtime leaves such an output as its memory
 * was: mostly zeros, now and then what stood there before.
 */
export function leavesUnwritten({ graph }: Model): boolean {
  return [...nodesWithin(graph)].some(
    (node) =>
      node.is("Scan") && node.bodies.some((body) => body.outputs.some(({ value }) => value.producer?.graph !== body)),
  );
}

/** Whether the runtime refuses sizes once they are settled, as of a loop that does not run in the sizes at hand. */
export async function refusesSizes(original: Model, settle: (model: Model) => void, feeds: Feeds): Promise<boolean> {
  settle(original);
  try {
    return (await runEach(bytesOf(original), [feeds])).some((run) => run instanceof Refusal);
  } catch (thrown) {
    if (thrown instanceof Refusal) return true;
    throw thrown;
  }
}

/**
 * Whether a reduction meets a tensor without elements in one of the runs. The kernels give some of them the shape of
 * their input, whatever `keepdims` and the axes say and shape inference makes of it; so do those that Softmax is spelled
 * out with in half precision.
 */
export async function reducesNothing({ graph, ...rest }: Model, feeds: readonly Feeds[]): Promise<boolean> {
  const reducing = /^(Reduce|Softmax|LogSoftmax)/;
  const reduced = [...graph.nodes()].filter(({ op }) => reducing.test(op)).map(({ inputs }) => inputs[0]!);
  const names = [...new Set(reduced)].map((value, i) => ({ name: `reduced${i}`, value }));
  if (names.length === 0) return false;
  for (const { name, value } of names) graph.addOutput(name, value);
  try {
    const runs = await runEach(bytesOf({ graph, ...rest }), feeds);
    return runs.some((run) => !(run instanceof Refusal) && names.some(({ name }) => run[name]?.elementCount === 0));
  } finally {
    for (const { name } of names) graph.removeOutput(name);
  }
}

/** Whether the runtime refuses the original itself where no more than one of its outputs is asked for. */
export async function refusesPart(given: FuzzCase, feeds: readonly Feeds[]): Promise<boolean> {
  for (const { name } of modelOf(given).graph.outputs) {
    const part = modelOf(given);
    for (const other of part.graph.outputs) if (other.name !== name) part.graph.removeOutput(other.name);
    sweep(part.graph);
    try {
      if ((await runEach(bytesOf(part), feeds)).some((run) => run instanceof Refusal)) return true;
    } catch (thrown) {
      if (thrown instanceof Refusal) return true;
      throw thrown;
    }
  }
  return false;
}
