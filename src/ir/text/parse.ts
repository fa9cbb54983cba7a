/**
 * Text to graph: the notation of print.ts, for tests and bug reports. A constant
 * without values gets some from the seed, so a test can write only what matters.
 */
import { type Random, seededRandom } from "../../base/random.js";
import { type Attribute, attr } from "../attribute.js";
import { type DType, dtypes } from "../dtype.js";
import { Graph } from "../graph.js";
import type { Model } from "../model.js";
import { type Dim, elementCount } from "../shape.js";
import type { Tensor } from "../tensor.js";
import type { TensorType, Value } from "../value.js";
import { seededTensor, tensorOfTokens } from "./tensor-values.js";
import { type Token, Tokens } from "./tokens.js";

export interface ParseOptions {
  readonly seed?: number;
  readonly opset?: number;
}

/** Bodies inside each other; far beyond what models have, and what a reader of the file format takes. */
const DEEPEST = 30;
/** Elements of one constant: text is for small graphs. */
const MOST_ELEMENTS = 1 << 27;

/** Throws GRAPH_TEXT with line and column. */
export function parseModel(text: string, options: ParseOptions = {}): Model {
  const parser = new Parser(new Tokens(text), seededRandom(options.seed ?? 1));
  const opsets = new Map([["", options.opset ?? 17]]);
  const graph = parser.model();
  for (const domain of parser.domains) opsets.set(domain, 1);
  return { graph, opsets, irVersion: 10, functions: new Set(), extras: {}, path: "" };
}

export const parseGraph = (text: string, options: ParseOptions = {}): Graph => parseModel(text, options).graph;

interface Scope {
  readonly values: Map<string, Value>;
  readonly outer: Scope | null;
  readonly depth: number;
}

class Parser {
  readonly domains = new Set<string>();

  constructor(
    readonly tokens: Tokens,
    readonly random: Random,
  ) {}

  model(): Graph {
    const graph = this.#graph(null);
    if (!this.tokens.isAtEnd) throw this.tokens.unexpected("the end");
    return graph;
  }

  #graph(outer: Scope | null): Graph {
    const { tokens } = this;
    const graph = new Graph();
    const scope: Scope = { values: new Map(), outer, depth: (outer?.depth ?? 0) + 1 };
    if (scope.depth > DEEPEST) throw tokens.error(tokens.at, `more than ${DEEPEST} bodies inside each other`);
    tokens.list("(", ")", () => {
      const { at } = tokens;
      const name = tokens.name();
      const type = tokens.accept(":") ? this.#type() : null;
      this.#define(scope, name, graph.addInput(name, type), at);
    });
    tokens.expect("->");
    const ports = tokens.position;
    this.#skipParenthesis();
    tokens.expect("{");
    while (!tokens.accept("}")) {
      // A line of its own introduces a constant that a body reads first.
      if (tokens.peek().startsWith("$")) this.#operand(graph, scope);
      else this.#node(graph, scope);
    }
    const end = tokens.position;
    // Ports may introduce constants, and name values of nodes: read them last.
    tokens.position = ports;
    tokens.list("(", ")", () => this.#port(graph, scope));
    tokens.position = end;
    return graph;
  }

  /** `y`, `y = value`, or a constant that gives the port its name. */
  #port(graph: Graph, scope: Scope): void {
    const { tokens } = this;
    const { at } = tokens;
    let name: string;
    let value: Value;
    if (tokens.peek().startsWith("$")) {
      value = this.#operand(graph, scope)!;
      name = value.label;
    } else {
      name = tokens.name();
      value = tokens.accept("=") ? this.#portSource(graph, scope) : this.#find(scope, name, at);
    }
    if (graph.outputs.some((port) => port.name === name)) throw tokens.error(at, `two outputs are called ${name}`);
    graph.addOutput(name, value);
  }

  #portSource(graph: Graph, scope: Scope): Value {
    const { at } = this.tokens;
    const value = this.#operand(graph, scope);
    if (!value) throw this.tokens.error(at, "an output needs a value");
    return value;
  }

  #node(graph: Graph, scope: Scope): void {
    const { tokens } = this;
    const outputs: { label: string | null; at: number }[] = [];
    do {
      const { at } = tokens;
      outputs.push({ label: tokens.accept("_") ? null : tokens.name(), at });
    } while (tokens.accept(","));
    tokens.expect("=");
    const opName = tokens.name();
    const split = opName.lastIndexOf("::");
    const domain = split < 0 ? "" : opName.slice(0, split);
    if (domain) this.domains.add(domain);
    const attributes: [string, Attribute][] = [];
    if (tokens.peek() === "<") {
      tokens.list("<", ">", () => {
        const name = tokens.name();
        tokens.expect("=");
        attributes.push([name, this.#attribute(scope)]);
      });
    }
    const inputs: (Value | null)[] = [];
    tokens.list("(", ")", () => inputs.push(this.#operand(graph, scope)));
    const node = graph.addNode({
      op: split < 0 ? opName : opName.slice(split + 2),
      domain,
      inputs,
      attributes,
      outputs: outputs.map(({ label }) => (label === null ? null : { label })),
    });
    outputs.forEach(({ label, at }, i) => {
      if (label !== null) this.#define(scope, label, node.outputs[i]!, at);
    });
    node.provenance = [node.displayName];
  }

  #operand(graph: Graph, scope: Scope): Value | null {
    const { tokens } = this;
    const { at } = tokens;
    if (tokens.accept("_")) return null;
    if (!tokens.peek().startsWith("$")) return this.#find(scope, tokens.name(), at);
    const token = tokens.take().text;
    const name = token === "$" ? tokens.name() : token.slice(1);
    if (!tokens.accept(":")) return this.#find(scope, name, at);
    const value = graph.addConstant(name, this.#tensor());
    this.#define(scope, name, value, at);
    return value;
  }

  #attribute(scope: Scope): Attribute {
    const { tokens } = this;
    const next = tokens.peek();
    if (next === "(") return attr.graph(this.#graph(scope));
    if (next.startsWith('"')) return attr.string(tokens.quoted(tokens.take()));
    if (isDType(next)) return attr.tensor(this.#tensor());
    if (next === "[") return this.#listAttribute(scope);
    return isFloatText(next) ? attr.float(tokens.float(tokens.take())) : attr.int(tokens.integer(tokens.take()));
  }

  #listAttribute(scope: Scope): Attribute {
    const { tokens } = this;
    const first = tokens.peek(1);
    if (first === "(") {
      const graphs: Graph[] = [];
      tokens.list("[", "]", () => graphs.push(this.#graph(scope)));
      return { type: "graphs", value: graphs };
    }
    if (isDType(first)) {
      const tensors: Tensor[] = [];
      tokens.list("[", "]", () => tensors.push(this.#tensor()));
      return { type: "tensors", value: tensors };
    }
    const items: Token[] = [];
    tokens.list("[", "]", () => items.push(tokens.take()));
    if (first.startsWith('"')) {
      return attr.strings(items.map((item) => tokens.quoted(item)));
    }
    if (items.some(({ text }) => isFloatText(text))) return attr.floats(items.map((item) => tokens.float(item)));
    return attr.ints(items.map((item) => tokens.integer(item)));
  }

  #type(): TensorType {
    const { tokens } = this;
    const { text: dtype, at } = tokens.take();
    if (!isDType(dtype)) throw tokens.error(at, `${dtype} is no element type`);
    if (tokens.peek() !== "[") return { dtype, shape: null };
    const shape: Dim[] = [];
    tokens.list("[", "]", () => {
      if (tokens.accept("?")) shape.push(null);
      else if (/^\d+$/.test(tokens.peek())) shape.push(Number(tokens.take().text));
      else shape.push(tokens.name());
    });
    return { dtype, shape };
  }

  #tensor(): Tensor {
    const { tokens } = this;
    const { at } = tokens;
    const type = this.#type();
    const dims = (type.shape ?? []) as number[];
    if (dims.some((dim) => typeof dim !== "number")) throw tokens.error(at, "a constant has known dimensions");
    if (!(elementCount(dims) <= MOST_ELEMENTS)) throw tokens.error(at, `more than ${MOST_ELEMENTS} elements`);
    if (!tokens.accept("=")) return seededTensor(type.dtype!, dims, this.random);
    const values: Token[] = [];
    tokens.list("{", "}", () => values.push(tokens.take()));
    return tensorOfTokens(tokens, type.dtype!, dims, values, at);
  }

  #define(scope: Scope, name: string, value: Value, at: number): void {
    if (scope.values.has(name)) throw this.tokens.error(at, `${name} is defined twice`);
    scope.values.set(name, value);
  }

  #find(scope: Scope, name: string, at: number): Value {
    for (let s: Scope | null = scope; s; s = s.outer) {
      const value = s.values.get(name);
      if (value) return value;
    }
    throw this.tokens.error(at, `${name} is not defined`);
  }

  #skipParenthesis(): void {
    let depth = 0;
    do {
      const { text } = this.tokens.take();
      if (text === "(") depth++;
      if (text === ")") depth--;
    } while (depth > 0);
  }
}

const isDType = (text: string): text is DType => dtypes.includes(text as DType);

const isFloatText = (text: string): boolean => /^-?(\d*\.\d|\d+\.|\d+e|inf|nan)/i.test(text);
