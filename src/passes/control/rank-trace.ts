/**
 * What would follow if a value had another rank: ranks and the small integers computed
 * from them are followed through the nodes behind it, into branches whose condition
 * comes out, until a node turns up that no runtime can run on such an input.
 */
import type { Graph, Node, Value } from "../../ir/index.js";
import { familyOf } from "../../ops/facts.js";
import { constantIntegers, givenAxes } from "../../rewrite/match.js";

interface Fact {
  readonly rank: number | null;
  /** Elements of an integer or bool tensor of rank 0 or 1, as far as they are known; null when not even their number is. */
  readonly elements: readonly (number | null)[] | null;
}

const unknown: Fact = { rank: null, elements: null };
const ofRank = (rank: number | null): Fact => ({ rank, elements: null });
const ofScalar = (element: number | null): Fact => ({ rank: 0, elements: [element] });

/** Nodes that are looked at: a contradiction sits close or it does not sit at all. */
const FARTHEST = 200;

/** Whether every run in which an output of `node` has rank `rank` fails at a node of the same graph. */
export function isImpossibleRank(node: Node, rank: number): boolean {
  const trace = new Trace();
  for (const output of node.outputs) if (output) trace.facts.set(output, ofRank(rank));
  return trace.fails(node.next);
}

class Trace {
  readonly facts = new Map<Value, Fact>();
  #left = FARTHEST;

  /** Runs the nodes from `first` on; true as soon as one must fail. All of them run whenever the first does. */
  fails(first: Node | null): boolean {
    for (let node = first; node; node = node.next) {
      if (this.#left-- <= 0) return false;
      if (this.#mustFail(node)) return true;
      if (node.is("If")) {
        if (this.#runIf(node)) return true;
      } else if (node.outputs[0]) this.facts.set(node.outputs[0], this.#resultOf(node));
    }
    return false;
  }

  #of(value: Value | null | undefined): Fact {
    if (!value) return unknown;
    const traced = this.facts.get(value);
    if (traced) return traced;
    if (value.constant) {
      const { dims } = value.constant;
      return { rank: dims.length, elements: dims.length <= 1 ? constantIntegers(value) : null };
    }
    return ofRank(value.shape?.length ?? null);
  }

  /** Whether no run gets past this node, by the rank of what it reads. */
  #mustFail(node: Node): boolean {
    if (node.domain !== "" || node.outputs.every((output) => !output || output.useCount === 0)) return false;
    const { rank } = this.#of(node.inputs[0]);
    if (rank === null) return false;
    switch (node.op) {
      case "LSTM":
      case "GRU":
      case "RNN":
        return rank !== 3;
      case "Gemm":
        return rank !== 2;
      case "Conv":
      case "ConvTranspose": {
        const weight = node.inputs[1]?.constant;
        return weight ? rank !== weight.dims.length : false;
      }
      default:
        return false;
    }
  }

  /** Follows the branch that is taken, when that is known; true when it fails. */
  #runIf(node: Node): boolean {
    const taken = this.#of(node.inputs[0]).elements?.[0] ?? null;
    const name = taken ? "then_branch" : "else_branch";
    const branch: Graph | null = taken === null ? null : bodyOf(node, name);
    if (branch && this.fails(branch.firstNode)) return true;
    node.outputs.forEach((output, i) => {
      const result = branch?.outputs[i]?.value;
      if (output) this.facts.set(output, result ? this.#of(result) : unknown);
    });
    return false;
  }

  #resultOf(node: Node): Fact {
    if (node.domain !== "") return unknown;
    const a = this.#of(node.inputs[0]);
    const b = this.#of(node.inputs[1]);
    switch (node.op) {
      case "Shape":
        return a.rank === null || node.attributes.size > 0
          ? ofRank(1)
          : { rank: 1, elements: Array<null>(a.rank).fill(null) };
      case "Size":
        return ofScalar(a.rank === 1 ? (a.elements?.length ?? null) : null);
      case "Cast":
      case "Identity":
        return a;
      case "Not":
        return { rank: a.rank, elements: a.elements?.map((e) => (e === null ? null : e ? 0 : 1)) ?? null };
      case "Equal":
        return compare(a, b, (x, y) => x === y);
      case "Less":
        return compare(a, b, (x, y) => x < y);
      case "Greater":
        return compare(a, b, (x, y) => x > y);
      case "Unsqueeze":
        return shifted(a, givenAxes(node), 1);
      case "Squeeze":
        return shifted(a, givenAxes(node), -1);
      case "Transpose":
        return ofRank(a.rank);
      default:
        return familyOf(node) === "unary" ? ofRank(a.rank) : ofRank(node.output.shape?.length ?? null);
    }
  }
}

export function bodyOf(node: Node, name: string): Graph | null {
  const attribute = node.attributes.get(name);
  return attribute?.type === "graph" ? attribute.value : null;
}

function compare(a: Fact, b: Fact, holds: (a: number, b: number) => boolean): Fact {
  const [x, y] = [a.elements, b.elements];
  if (x?.length !== 1 || y?.length !== 1 || x[0] == null || y[0] == null) return unknown;
  return { rank: a.rank === 0 && b.rank === 0 ? 0 : 1, elements: [holds(x[0], y[0]) ? 1 : 0] };
}

const shifted = (a: Fact, axes: readonly number[] | null, by: 1 | -1): Fact =>
  ofRank(a.rank === null || !axes ? null : a.rank + by * axes.length);
