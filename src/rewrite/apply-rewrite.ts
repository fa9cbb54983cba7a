/**
 * One rewrite at one root: propose, check, commit or withdraw. New nodes stand in the
 * graph while the rewrite thinks, so that it can ask them for types; a withdrawn
 * proposal leaves no trace.
 */
import { invariant } from "../base/errors.js";
import { type Graph, importDomain, type Model, type Node, opsetOf, type TensorType, type Value } from "../ir/index.js";
import { isOrtCpu, rejection, type Target } from "../target/target.js";
import { isStep, roundingReason } from "./half-precision.js";
import { outputTypeOf } from "./output-type.js";
import {
  type Answer,
  type CreateOptions,
  type Rewrite,
  type RewriteContext,
  refusalFor,
  Skip,
  type Store,
  skip,
} from "./pass.js";
import { removeUnreadConstant, removeWithFeeders } from "./sweep.js";

export type Outcome =
  | { readonly kind: "none" }
  | { readonly kind: "skip"; readonly reason: string }
  | { readonly kind: "applied" };

/** What a pass that runs has around its rewrites. */
export interface Surroundings {
  readonly model: Model;
  readonly store: Store;
  readonly target: Target | null;
  /** What its roots share, by what made it. */
  readonly memory: Map<() => unknown, unknown>;
}

/** What a rewrite has made so far. */
class Proposal {
  readonly nodes: Node[] = [];
  readonly constants: Value[] = [];
  /** Values besides the root's outputs, with what stands in for them. */
  readonly others = new Map<Value, Value>();

  constructor(
    readonly root: Node,
    readonly surroundings: Surroundings,
    readonly opset: number,
  ) {}

  get model(): Model {
    return this.surroundings.model;
  }

  context(): RewriteContext {
    const graph = this.root.graph;
    return {
      model: this.model,
      opset: this.opset,
      skip,
      shared: <T>(make: () => T): T => {
        const { memory } = this.surroundings;
        if (!memory.has(make)) memory.set(make, make());
        return memory.get(make) as T;
      },
      create: (op, inputs, attributes = {}, options = {}) => {
        const node = createNode(graph, this.root, op, inputs, attributes, options);
        this.nodes.push(node);
        this.#nameSteps(node, (options.like ?? this.root).name);
        return node;
      },
      constant: (label, tensor) => {
        const value = graph.addConstant(label, this.surroundings.store(tensor));
        this.constants.push(value);
        return value;
      },
      alsoReplace: (old, replacement) => void this.others.set(old, replacement),
    };
  }

  /** A node carries the name of the one it replaces; those on the way to it get one of their own, since names must not repeat. */
  #nameSteps(node: Node, stem: string): void {
    const previous = this.nodes.at(-2);
    if (previous && previous.name !== "" && previous.name === stem) {
      previous.name = `${stem}/${previous.op}_${this.nodes.length - 1}`;
    }
    node.name = stem;
  }

  withdraw(): void {
    for (const node of this.nodes.reverse()) node.graph.removeNode(node);
    for (const value of this.constants) value.graph.removeConstant(value);
  }
}

function createNode(
  graph: Graph,
  root: Node,
  op: string,
  inputs: readonly (Value | null)[],
  attributes: NonNullable<Parameters<RewriteContext["create"]>[2]>,
  options: CreateOptions,
): Node {
  const labels = options.labels ?? [`${root.output.label}/${op}`];
  const node = graph.addNode(
    {
      op,
      domain: options.domain ?? "",
      inputs,
      attributes,
      outputs: labels.map((label, i) => (label === null ? null : { label, type: options.types?.[i] ?? null })),
    },
    options.before ?? root,
  );
  const first = node.outputs[0];
  if (first && !first.type) first.type = outputTypeOf(node);
  return node;
}

/**
 * What a rewrite would answer at a root if the model were of another opset: nothing
 * changes. "applied" when it has a replacement, whose types are not looked at yet.
 */
export function tryRewrite(rewrite: Rewrite, root: Node, surroundings: Surroundings, opset: number): Outcome {
  const { target } = surroundings;
  // Nothing of it stays, so nothing needs a place of its own.
  const proposal = new Proposal(root, { ...surroundings, store: (tensor) => tensor }, opset);
  try {
    const answer = rewrite.rewrite(root, proposal.context());
    if (answer === null) return { kind: "none" };
    if (answer instanceof Skip) return { kind: "skip", reason: answer.reason };
    const objection = objectionOf(target, rewrite, proposal) ?? roundingObjection(rewrite, proposal);
    return objection ? { kind: "skip", reason: objection } : { kind: "applied" };
  } finally {
    proposal.withdraw();
  }
}

/** Tries a rewrite at a root. Faults inside the rewrite withdraw the proposal and go on as they are. */
export function applyRewrite(rewrite: Rewrite, root: Node, surroundings: Surroundings): Outcome {
  const { model, target } = surroundings;
  const proposal = new Proposal(root, surroundings, opsetOf(model));
  let answer: Answer;
  try {
    answer = rewrite.rewrite(root, proposal.context());
  } catch (thrown) {
    proposal.withdraw();
    throw thrown;
  }
  if (answer === null || answer instanceof Skip) {
    proposal.withdraw();
    return answer === null ? { kind: "none" } : { kind: "skip", reason: answer.reason };
  }
  const shadowed = proposal.nodes.find(({ domain, op }) => model.functions.has(`${domain}::${op}`));
  if (shadowed) {
    proposal.withdraw();
    return { kind: "skip", reason: `the model has a function of its own called ${shadowed.opName}` };
  }
  const results = resultsOf(answer);
  const fault = faultOf(results, root, proposal);
  if (fault !== null) {
    proposal.withdraw();
    invariant(false, fault);
  }
  const objection = objectionOf(target, rewrite, proposal) ?? roundingObjection(rewrite, proposal);
  if (objection) {
    proposal.withdraw();
    return { kind: "skip", reason: objection };
  }
  commit(results, root, proposal);
  return { kind: "applied" };
}

/**
 * Why the target, ONNX Runtime's CPU provider where none is named, would be worse off with what was made, or null. A root that it lacks may become another of its kind;
 * not one of another kind, which could take along what stood around it and was taken.
 */
function objectionOf(target: Target | null, rewrite: Rewrite, proposal: Proposal): string | null {
  const { notOnCpu } = rewrite;
  const { root, nodes, model, opset } = proposal;
  if (notOnCpu !== undefined && (!target || isOrtCpu(target))) return `ONNX Runtime: ${notOnCpu}`;
  if (!target) return null;
  const refusal = refusalFor(rewrite, target);
  if (refusal !== null) return refusal;
  const isLacking = rejection(target, root, opsetOf(model)) !== null;
  for (const node of nodes) {
    const reason = isLacking && node.opName === root.opName ? null : rejection(target, node, opset);
    if (reason !== null) return `${target.title}: ${reason}`;
  }
  return null;
}

/**
 * Why it matters where half-precision values are rounded, which changes with the nodes between them, or null. A rewrite
 * that is exact on paper may take away the node that made a runtime round.
 */
function roundingObjection({ numerics }: Rewrite, { root, others }: Proposal): string | null {
  if (numerics === "lossy" || castsToItself(root)) return null;
  for (const value of [...root.outputs, ...others.keys()]) {
    const reason = roundingReason(value);
    if (reason !== null) return reason;
  }
  // Whether a value is rounded depends on those who read it, too.
  for (const value of root.inputs) {
    if (!value?.producer) continue;
    if (isStep(value)) return `${value.producer.displayName} magnifies where what it takes is rounded`;
    const reason = roundingReason(value, { except: root });
    if (reason !== null) return reason;
  }
  return null;
}

/** That rounds nothing anywhere; and left alone, it makes ONNX Runtime refuse models, by who else reads what it takes. */
const castsToItself = ({ op, domain, inputs, output }: Node): boolean =>
  domain === "" && (op === "Cast" || op === "CastLike") && !!output.dtype && inputs[0]?.dtype === output.dtype;

function resultsOf(answer: Node | Value | readonly (Value | null)[]): readonly (Value | null)[] {
  if ("op" in answer) return answer.outputs;
  return "label" in answer ? [answer] : answer;
}

/** Why what a rewrite made cannot stand in for what it replaces, or null. */
function faultOf(results: readonly (Value | null)[], root: Node, proposal: Proposal): string | null {
  for (const [i, output] of root.outputs.entries()) {
    if (!output || output.useCount === 0) continue;
    const result = results[i];
    if (!result) return `output ${i} of ${root.displayName} is read and nothing stands in for it`;
    const fault = mismatchOf(output, result, root.displayName);
    if (fault !== null) return fault;
  }
  for (const [old, replacement] of proposal.others) {
    const fault = mismatchOf(old, replacement, old.label);
    if (fault !== null) return fault;
  }
  const replaced = new Set<Value | null>([...root.outputs, ...proposal.others.keys()]);
  for (const node of proposal.nodes) {
    for (const input of node.inputs) {
      if (input && replaced.has(input)) return `the replacement of ${root.displayName} reads its result`;
    }
  }
  return null;
}

function mismatchOf(old: Value, result: Value, name: string): string | null {
  if (result === old) return `${name} would stand in for itself`;
  if (result.dtype && old.dtype && result.dtype !== old.dtype) {
    return `${name} gives ${old.dtype}, its replacement ${result.dtype}`;
  }
  if (result.shape && old.shape && result.shape.length !== old.shape.length) {
    return `${name} gives rank ${old.shape.length}, its replacement ${result.shape.length}`;
  }
  return null;
}

function commit(results: readonly (Value | null)[], root: Node, proposal: Proposal): void {
  const made = new Set(proposal.nodes);
  for (const [i, output] of root.outputs.entries()) {
    const result = results[i];
    if (!output || !result) continue;
    handOver(output, result, result.producer !== null && made.has(result.producer));
    root.graph.replaceUses(output, result);
  }
  const producers = [root];
  for (const [old, replacement] of proposal.others) {
    handOver(old, replacement, replacement.producer !== null && made.has(replacement.producer));
    if (old.producer) producers.push(old.producer);
    old.graph.replaceUses(old, replacement);
  }
  const removed = producers.flatMap((producer) => removeWithFeeders(producer));
  // What the rewrite made and then did not use.
  for (const node of [...proposal.nodes].reverse()) {
    if (node.attached && node.outputs.every((output) => !output || output.useCount === 0)) node.graph.removeNode(node);
  }
  for (const value of proposal.constants) removeUnreadConstant(value);

  removed.reverse();
  for (const node of proposal.nodes) {
    if (!node.attached) continue;
    node.standFor(removed);
    importDomain(proposal.model, node.domain);
  }
}

/** The stand-in gets what is known about the value that goes: its label when it is new, its type where it lacks one. */
function handOver(old: Value, result: Value, isNew: boolean): void {
  if (isNew) {
    result.label = old.label;
    result.info = old.info;
  }
  if (result.constant || result.isGraphInput) return;
  const isPort = old.isGraphOutput;
  // What the model declares about its outputs is public: it stays as it was written.
  result.type = isPort || isNew ? mergeTypes(old.type, result.type) : mergeTypes(result.type, old.type);
}

/** The first type, with the second's word on what the first does not know. */
function mergeTypes(first: TensorType | null, second: TensorType | null): TensorType | null {
  if (!first || !second) return first ?? second;
  return { dtype: first.dtype ?? second.dtype, shape: first.shape ?? second.shape };
}
