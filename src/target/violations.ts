/** Everything in a model that a target does not take, node by node. */
import { type Model, nodesWithin, opsetOf } from "../ir/index.js";
import { callsOperator, type Target, type Weight } from "./target.js";

export interface Violation {
  readonly about: "opset" | "irVersion" | "input" | "operator";
  readonly weight: Weight;
  /** The node or the input; null for the model as a whole. */
  readonly node: string | null;
  readonly op: string | null;
  readonly reason: string;
  readonly advice: string;
}

/** In the order of the graph, the model as a whole first. Calls of the model's own functions are not looked into. */
export function violationsOf(model: Model, target: Target): readonly Violation[] {
  return [...ofVersions(model, target), ...ofInputs(model, target), ...ofNodes(model, target)];
}

function* ofVersions(model: Model, target: Target): Generator<Violation> {
  const whole = { weight: "refused", node: null, op: null } as const;
  const opset = model.opsets.has("") ? opsetOf(model) : null;
  if (opset !== null && opset > target.newestOpset) {
    const reason = `opset ${opset} is beyond ${target.newestOpset}, the newest that it takes`;
    const advice = `Export the model again at opset ${target.newestOpset} or below.`;
    yield { about: "opset", ...whole, reason, advice };
  }
  if (opset !== null && opset < target.oldestOpset) {
    const reason = `opset ${opset} is older than ${target.oldestOpset}, the oldest that it takes`;
    const advice =
      opset < 7
        ? "Export the model again with a newer exporter."
        : `Convert it: \`infer-opt fold --opset ${Math.min(target.newestOpset, Math.max(target.oldestOpset, 13))}\`.`;
    yield { about: "opset", ...whole, reason, advice };
  }
  const newest = target.newestIrVersion;
  if (newest !== null && model.irVersion > newest) {
    const reason = `IR version ${model.irVersion} is beyond ${newest}, the newest that it reads`;
    const advice = `Write it with \`infer-opt fold --target ${target.name}\`: the least IR version that the model needs is written.`;
    yield { about: "irVersion", ...whole, reason, advice };
  }
}

function* ofInputs({ graph }: Model, { openSizes }: Target): Generator<Violation> {
  if (!openSizes) return;
  for (const { label, shape } of graph.inputs) {
    if (shape?.every((dim) => typeof dim === "number")) continue;
    yield { about: "input", node: label, op: null, ...openSizes };
  }
}

function* ofNodes(model: Model, target: Target): Generator<Violation> {
  const opset = opsetOf(model);
  for (const node of nodesWithin(model.graph)) {
    const objection = callsOperator(model, node) ? target.objectionTo(node, opset) : null;
    if (objection) yield { about: "operator", node: node.displayName, op: node.opName, ...objection };
  }
}
