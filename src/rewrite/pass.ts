/**
 * The two kinds of pass. A rewrite looks at one root and its neighbourhood and
 * proposes; the engine commits. A graph pass sees the whole model and may wait for
 * the runtime. What is not declared gets the cautious answer.
 */
import type { Numerics } from "../base/numerics.js";
import type { Attribute, Model, Node, Tensor, TensorType, Value } from "../ir/index.js";
import { isOrtCpu, type Target } from "../target/target.js";

/** "This pattern, and here is why not": kept for `explain`. */
export class Skip {
  constructor(readonly reason: string) {}
}

export const skip = (reason: string): Skip => new Skip(reason);

/**
 * null: not this pattern. Skip: this pattern, declined. A node: its outputs stand in
 * for the root's, one by one. A value or a list of values: the same for existing ones.
 */
export type Answer = null | Skip | Node | Value | readonly (Value | null)[];

export interface CreateOptions {
  readonly domain?: string;
  /** The source node whose name the new one carries on; the root when absent. */
  readonly like?: Node;
  /** Labels of the outputs, one per output, null for one that is left out. Those of the node that answers become the root's. */
  readonly labels?: readonly (string | null)[];
  /** Types of the outputs where the small rules of output-type.ts do not know them. */
  readonly types?: readonly (TensorType | null)[];
  /** The node of the root's graph before which the new one stands; the root when absent. */
  readonly before?: Node;
}

/** What a rewrite may do: make new things. Whatever the answer does not lead to is withdrawn. */
export interface RewriteContext {
  readonly model: Model;
  /** Version of ai.onnx that what is created is read by. */
  readonly opset: number;
  readonly skip: (reason: string) => Skip;
  /**
   * What `make` makes, once for all roots of a pass that runs: for facts that take a whole
   * graph to find. They must stay true while the pass edits the graph.
   */
  readonly shared: <T>(make: () => T) => T;
  /** A new node, directly before the root unless the options say otherwise. */
  readonly create: (
    op: string,
    inputs: readonly (Value | null)[],
    attributes?: Iterable<readonly [string, Attribute]> | Readonly<Record<string, Attribute>>,
    options?: CreateOptions,
  ) => Node;
  /** A new constant in the root's graph. */
  readonly constant: (label: string, tensor: Tensor) => Value;
  /**
   * Once the answer is accepted, what reads `old` reads `replacement` too, which must be made before the first
   * of those readers; for nodes that do the work of several. The node behind `old` goes when nobody reads it.
   */
  readonly alsoReplace: (old: Value, replacement: Value) => void;
}

interface Pass {
  /** Verb first, kebab-case; the same string in `--skip`, reports and events. */
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  readonly numerics: Numerics;
  /** Values behind what it changes get types that nobody could know before: worth asking the runtime again, right away or before the next round. */
  readonly revealsTypes?: "at once" | "for the next round";
  /**
   * Set where the pass pays by kernels that ONNX Runtime has on the CPU, and was measured nowhere else:
   * why it is left out for other targets.
   */
  readonly onlyOnCpu?: string;
}

export interface Rewrite extends Pass {
  readonly kind: "rewrite";
  /** Operators worth looking at: `Conv`, `com.microsoft::Gelu`, or `*` for every node. */
  readonly roots: readonly string[];
  /**
   * Least version of ai.onnx that has what the rewrite creates. On an older model the rewrite is
   * first tried out as if the version were this one, on nodes of the older form.
   */
  readonly minOpset?: number;
  /**
   * Set where what is made is slower on ONNX Runtime's CPU provider than what is there: why. It then happens only for
   * another target, which was named and is known to take what is made.
   */
  readonly notOnCpu?: string;
  /** Set where other passes of `runPasses` would undo it: it runs when they have nothing left to do. */
  readonly runsLast?: true;
  rewrite(root: Node, context: RewriteContext): Answer;
}

/** Why a pass is left out for a target; null where it is not. */
export const refusalFor = ({ onlyOnCpu }: AnyPass, target: Target | null | undefined): string | null =>
  onlyOnCpu !== undefined && target && !isOrtCpu(target) ? `${target.title}: ${onlyOnCpu}` : null;

/** Runs a model without inputs and returns its outputs by name. */
export type Evaluate = (model: Model) => Promise<ReadonlyMap<string, Tensor>>;

export interface PassOptions {
  /** Bytes by which constant folding may let the model grow, all folds together. */
  readonly foldGrowthBytes: number;
}

/** Gives a new tensor a place outside of memory where it is large, and answers with the same contents there. */
export type Store = (tensor: Tensor) => Tensor;

export interface GraphPassContext {
  readonly model: Model;
  /** null when no runtime is at hand: passes that need it decline. */
  readonly evaluate: Evaluate | null;
  readonly options: PassOptions;
  /** For large tensors that the pass makes. */
  readonly store: Store;
  /** Whether a node may be changed at all, without a change being counted: for what is computed for many at once. */
  readonly mayChange: (node: string) => boolean;
  /**
   * Asks for leave to make one change at a node and counts it. False when this node is to stay as it is, since the
   * caller knows that changing it goes wrong, or allows no more changes: the pass goes on with the next.
   */
  readonly claim: (node: string) => boolean;
  readonly skipped: (node: string, reason: string) => void;
  /** Numbers that the pass keeps from round to round of one run. */
  readonly ledger: Map<string, number>;
}

export interface GraphPass extends Pass {
  readonly kind: "graph";
  run(context: GraphPassContext): void | Promise<void>;
}

export type AnyPass = Rewrite | GraphPass;

/** Whether a pass does nothing for ONNX Runtime on the CPU. */
export const isForOtherTargets = (pass: AnyPass): boolean => pass.kind === "rewrite" && pass.notOnCpu !== undefined;

export const defineRewrite = (rewrite: Omit<Rewrite, "kind">): Rewrite => ({ kind: "rewrite", ...rewrite });
export const defineGraphPass = (pass: Omit<GraphPass, "kind">): GraphPass => ({ kind: "graph", ...pass });
