/** What is expected to be computed beforehand, merged, taken out or written out. */
import { functionCalled, type Node, type Value } from "../../ir/index.js";
import { textOf } from "../../ops/attribute-text.js";
import { familyOf, isPure } from "../../ops/facts.js";
import { alsoReadBy, type Expectation, readersOf } from "./expectation.js";

const identity: Expectation = {
  ops: ["Identity"],
  passes: ["eliminate-identity"],
  look(node) {
    const [input] = node.inputs;
    // Bodies hand on what they are given by Identity: every exporter writes it so.
    if (!input || (input.isGraphInput && node.graph.owner !== null)) return null;
    if (input.graph !== node.graph) return { reason: "it hands a value from outside to an output of a body" };
    if (input.isGraphInput) return { reason: "it hands an input to an output, and both keep their names" };
    return { reason: "it hands one value to two outputs, and both keep their names" };
  },
};

const dropout: Expectation = {
  ops: ["Dropout"],
  passes: ["eliminate-dropout"],
  look: () => ({ reason: "it may be in training mode" }),
};

/** Nodes of constants alone. What draws numbers, and weights that are widened, nobody expects to fold. */
const constants: Expectation = {
  ops: "*",
  passes: ["fold-constants"],
  look(node, { model }) {
    if (node.inputs.length === 0 || !node.inputs.some((value) => value) || node.op === "DequantizeLinear") return null;
    if (!node.inputs.every((value) => !value || value.constant) || functionCalled(model, node)) return null;
    const family = familyOf(node);
    if (family === "random" || family === "control") return null;
    if (node.domain !== "") return { reason: `what operators of ${node.domain} compute is not known here` };
    if (family === null) return { reason: `this version does not know the operator ${node.op}` };
    if (family === "container") return { reason: "sequences and optionals are no constants" };
    return { reason: "the size of its result is not known before it runs" };
  },
};

const branches: Expectation = {
  ops: ["If"],
  passes: ["inline-if", "fold-optional-squeeze"],
  look: (node) =>
    node.inputs[0]?.constant
      ? { reason: "the condition is constant, and the branch that is taken is malformed" }
      : null,
};

const loops: Expectation = {
  ops: ["Loop"],
  passes: ["unroll-loop"],
  look: (node) =>
    node.inputs[0]?.constant && (!node.inputs[1] || node.inputs[1].constant)
      ? { reason: "each iteration decides whether another follows" }
      : null,
};

const functions: Expectation = {
  ops: "*",
  passes: ["inline-functions"],
  look: (node, { model }) => (functionCalled(model, node) ? { reason: "the function was not put in its place" } : null),
};

/** The second of two nodes that read and say the same. */
const duplicate: Expectation = {
  ops: "*",
  passes: ["eliminate-common-subexpression"],
  look(node) {
    const first = node.inputs.find((value) => value && !value.constant);
    if (!first || familyOf(node) === "random") return null;
    // Others were merged.
    if (isPure(node) && node.bodies.length === 0 && !isPort(node)) return null;
    const twin = readersOf(first).find((each) => each !== node && isSame(each, node) && comesBefore(each, node));
    if (!twin) return null;
    const detail = `the same as ${twin.displayName}`;
    if (node.bodies.length > 0)
      return { reason: "it does the same as another node, with bodies that are not compared", detail };
    if (!isPure(node)) return { reason: `whether two calls of ${node.opName} may be merged is not known`, detail };
    if (isPort(node) && isPort(twin))
      return { reason: "it gives an output the same as another node, and both keep their names", detail };
    return { reason: "it does the same as another node", detail };
  },
};

const isPort = (node: Node): boolean => node.outputs.some((value) => value?.isGraphOutput);

function comesBefore(a: Node, b: Node): boolean {
  for (let at = a.next; at; at = at.next) if (at === b) return true;
  return false;
}

function isSame(a: Node, b: Node): boolean {
  if (a.opName !== b.opName || a.inputs.length !== b.inputs.length || a.outputs.length !== b.outputs.length)
    return false;
  if (a.attributes.size !== b.attributes.size || !a.inputs.every((value, i) => isSameValue(value, b.inputs[i])))
    return false;
  return [...a.attributes].every(([name, attribute]) => {
    const other = b.attributes.get(name);
    const text = textOf(attribute);
    return other !== undefined && text !== null && text === textOf(other);
  });
}

const isSameValue = (a: Value | null, b: Value | null | undefined): boolean => a === (b ?? null);

/** Nothing keeps a reduction of a reduction apart but somebody else who reads the first. */
const reductions: Expectation = {
  ops: ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"],
  passes: ["fuse-reduce-reduce"],
  look(node) {
    const inner = node.inputs[0]?.producer;
    if (!inner?.is(node.op) || inner.graph !== node.graph) return null;
    const shared = alsoReadBy(inner.output, node);
    if (shared) return { reason: `other nodes read the ${inner.op} before it too`, detail: shared };
    return { reason: "the axes of the two reductions are not known to go together" };
  },
};

export const leftoverExpectations: readonly Expectation[] = [
  functions,
  constants,
  identity,
  dropout,
  branches,
  loops,
  reductions,
  duplicate,
];
