/** Walks a graph and follows its units; what leaves the graph or meets an unknown operator is frozen. */
import type { Model, Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { callsOperator } from "../../target/target.js";
import { ruleOf } from "./rules/index.js";
import { type ConstantUnits, UnitTrace } from "./unit-trace.js";

export function traceUnits(model: Model): UnitTrace {
  const trace = new UnitTrace(model);
  for (const node of model.graph.nodes()) follow(node, trace);
  for (const value of trace.units.keys()) freezeIfSeen(value, trace);
  tieSharedConstants(trace);
  return trace;
}

function follow(node: Node, trace: UnitTrace): void {
  const rule = callsOperator(trace.model, node) ? ruleOf(node) : null;
  if (rule && !combines(node)) {
    // Sizes, limits and parameters that are computed from units: nothing that a rule looks at.
    for (const value of node.inputs.slice(1)) trace.freezeValue(value, `${node.displayName} counts with it`);
  }
  const problem = rule ? rule(node, trace) : `${node.displayName} is ${article(node.opName)}, which mixes or fixes it`;
  if (problem === null) return;
  for (const value of node.inputs) trace.freezeValue(value, problem);
  for (const value of node.outputs) {
    if (!value) continue;
    trace.freezeValue(value, problem);
    trace.units.delete(value);
  }
}

/** Operators of which a rule follows more than the first input. */
const ofSeveral = new Set("Attention BatchNormalization Concat Gather Gemm InstanceNormalization MatMul".split(" "));
const combines = (node: Node): boolean => ofSeveral.has(node.op) || familyOf(node) === "broadcasting";

const article = (op: string): string => `${/^[AEIOU]/.test(op) ? "an" : "a"} ${op}`;

/** Outputs of the graph are public, and bodies are not followed. */
function freezeIfSeen(value: Value, trace: UnitTrace): void {
  for (const use of value.uses) {
    if (use.kind === "output")
      trace.freezeValue(
        value,
        use.graph === trace.model.graph ? `it is the model's output ${use.port.name}` : inBody(value),
      );
    else if (use.node.graph !== trace.model.graph) trace.freezeValue(value, inBody(value));
  }
}

const inBody = (value: Value): string => `a body of a node reads ${value.label}`;

/**
 * A matrix that several nodes read stays one matrix: what it is cut into must be the same for all of them. Vectors
 * are cut for each reader by itself: equal biases of layers that have nothing to do with each other are one constant.
 */
function tieSharedConstants(trace: UnitTrace): void {
  const byConstant = new Map<Value, ConstantUnits[]>();
  for (const each of trace.constants) {
    const value = each.node.inputs[each.input]!;
    if (isShared(value)) byConstant.set(value, [...(byConstant.get(value) ?? []), each]);
  }
  for (const [value, notes] of byConstant) tie(value, notes, trace);
}

function isShared(value: Value): boolean {
  const sizes = value.constant!.dims.filter((dim) => dim > 1);
  return value.useCount > 1 && sizes.length > 1;
}

function tie(value: Value, notes: readonly ConstantUnits[], trace: UnitTrace): void {
  const blocks = notes.flatMap((note) => note.blocks.map((block) => ({ ...block, note })));
  const everyUse = value.uses;
  const names = everyUse.map((use) => (use.kind === "input" ? use.node.displayName : use.port.name));
  const why = `${value.label} is shared by ${[...new Set(names)].join(" and ")}`;
  const axes = new Set(blocks.flatMap((block) => block.axes));
  for (const axis of axes) {
    const own = blocks.filter((block) => block.axes.includes(axis));
    const isCut = everyUse.every(
      (use) => use.kind === "input" && own.some(({ note }) => note.node === use.node && note.input === use.index),
    );
    const isPlain = isCut && own.every((block) => block.axes.length === 1);
    const [first, ...rest] = own;
    if (isPlain) for (const block of rest) trace.sets.joinEach(first!.ids, block.ids);
    else for (const block of own) trace.sets.freezeAll(block.ids, why);
  }
}
