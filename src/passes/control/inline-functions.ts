/**
 * Calls of functions that the model brings along give way to what the functions do, so
 * that the passes see it. Runtimes do the same when they load a model.
 *
 * A call stays when its function calls itself, reads an operator by another opset in which
 * it means something else, or cannot be read. Functions that nobody calls any more go.
 */
import { InferOptError } from "../../base/errors.js";
import {
  dropFunctions,
  functionBody,
  functionCalled,
  functionsCalledBy,
  type LocalFunction,
  type Model,
  type Node,
  nodesWithin,
  opsetOf,
} from "../../ir/index.js";
import { sinceVersion } from "../../ops/since-versions.js";
import { defineGraphPass, type GraphPassContext, spliceBody } from "../../rewrite/index.js";
import { changedOperator } from "../opset/functions.js";
import { replaceOutputs } from "./replace-outputs.js";

/** Functions that call functions can grow without bounds; no model that runs comes near this. */
const MOST_NODES = 200_000;

export const inlineFunctions = defineGraphPass({
  name: "inline-functions",
  summary: "Put what a function of the model does in the place of its call",
  numerics: "exact",
  revealsTypes: "at once",
  run(context) {
    const { model } = context;
    if (model.functions.size === 0) return;
    const refusals = new Map<string, string | null>();
    let added = 0;
    const pending = [...nodesWithin(model.graph)].reverse();
    for (let node = pending.pop(); node; node = pending.pop()) {
      const called = functionCalled(model, node);
      if (!called) continue;
      if (!refusals.has(called.title)) refusals.set(called.title, refusalOf(model, called));
      const problem = added > MOST_NODES ? "the graph would grow too large" : (refusals.get(called.title) ?? null);
      const made = problem ?? inline(node, called, context);
      if (made === null) continue;
      if (typeof made === "string") {
        context.skipped(node.displayName, made);
        continue;
      }
      added += made.length;
      pending.push(
        ...made.flatMap((each) => [each, ...each.bodies.flatMap((body) => [...nodesWithin(body)])]).reverse(),
      );
    }
    dropUncalled(model);
  },
});

/** The nodes that took the call's place; a reason why it stays; null when it may not be changed. */
function inline(call: Node, called: LocalFunction, { model, claim }: GraphPassContext): Node[] | string | null {
  let body: ReturnType<typeof functionBody>;
  try {
    body = functionBody(model, called, call);
  } catch (thrown) {
    if (!(thrown instanceof InferOptError)) throw thrown;
    return `the function cannot be read: ${thrown.message}`;
  }
  if (!body) return "the call hands on bodies, or more or less than the function takes";
  if (!claim(call.displayName)) return null;
  const before = call.previous;
  const { graph } = call;
  // An input that the call leaves out is read by nobody: any value does.
  const some = call.inputs.find((value) => value !== null) ?? body.inputs[0]!;
  const results = spliceBody(
    body,
    call,
    body.inputs.map((_, i) => call.inputs[i] ?? some),
  );
  const made: Node[] = [];
  for (let node = before ? before.next : graph.firstNode; node && node !== call; node = node.next) made.push(node);
  replaceOutputs(call, results);
  for (const [domain, version] of called.opsets) if (!model.opsets.has(domain)) model.opsets.set(domain, version);
  return made.filter((node) => node.attached);
}

/** Why calls of a function stay, or null. */
function refusalOf(model: Model, called: LocalFunction): string | null {
  const { proto } = called;
  // ONNX leaves it to the runtime which of the two is called, and ONNX Runtime takes its own.
  if (called.title.startsWith("::") && sinceVersion(proto.name ?? "", opsetOf(model)) !== null) {
    return `ai.onnx has an operator ${proto.name} of its own`;
  }
  if (callsItself(model, called)) return "the function calls itself";
  for (const [domain, version] of called.opsets) {
    const here = domain === "" && model.opsets.has("") ? opsetOf(model) : model.opsets.get(domain);
    if (here === undefined || here === version) continue;
    if (domain !== "") return `the function wants version ${version} of ${domain}, the model has ${here}`;
    const change = changedOperator(called.proto, version, here);
    if (change) return `${change.op} means something else in opset ${version}, which the function is written in`;
  }
  return null;
}

function callsItself(model: Model, called: LocalFunction): boolean {
  const seen = new Set<string>();
  const pending = functionsCalledBy(model, called);
  for (let at = pending.pop(); at; at = pending.pop()) {
    if (at.title === called.title) return true;
    if (seen.has(at.title)) continue;
    seen.add(at.title);
    pending.push(...functionsCalledBy(model, at));
  }
  return false;
}

/** What is still called, by a node or by a function that is. Imports of domains that only functions had go with them. */
function dropUncalled(model: Model): void {
  const kept = new Set<string>();
  const domains = new Set<string>([""]);
  const pending: LocalFunction[] = [];
  for (const node of nodesWithin(model.graph)) {
    domains.add(node.domain);
    const called = functionCalled(model, node);
    if (called) pending.push(called);
  }
  for (let at = pending.pop(); at; at = pending.pop()) {
    if (kept.has(at.title)) continue;
    kept.add(at.title);
    for (const domain of at.opsets.keys()) domains.add(domain);
    pending.push(...functionsCalledBy(model, at));
  }
  const gone = new Set([...model.functions].map((name) => name.slice(0, name.indexOf("::"))));
  dropFunctions(model, (title) => kept.has(title));
  for (const domain of gone) if (!domains.has(domain)) model.opsets.delete(domain);
}
