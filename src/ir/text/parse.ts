/**
 * Text to graph: the notation of print.ts, for tests and bug reports. A constant
 * without values gets some from the seed, so a test can write only what matters.
 */
import { InferOptError } from "../../base/errors.js";
import { f32ToBf16Bits, f32ToF16Bits } from "../../base/f16.js";
import { type Random, seededRandom } from "../../base/random.js";
import { type Attribute, attr } from "../attribute.js";
import { type DType, dtypes, packedBytes } from "../dtype.js";
import { Graph } from "../graph.js";
import type { Model } from "../model.js";
import { type Dim, elementCount } from "../shape.js";
import { Tensor } from "../tensor.js";
import type { TensorType, Value } from "../value.js";

export interface ParseOptions {
  readonly seed?: number;
  readonly opset?: number;
}

/** Throws GRAPH_TEXT with line and column. */
export function parseModel(text: string, options: ParseOptions = {}): Model {
  const parser = new Parser(text, seededRandom(options.seed ?? 1));
  const opsets = new Map([["", options.opset ?? 17]]);
  const graph = parser.model();
  for (const domain of parser.domains) opsets.set(domain, 1);
  return { graph, opsets, irVersion: 10, functions: new Set(), extras: {}, path: "" };
}

export const parseGraph = (text: string, options: ParseOptions = {}): Graph => parseModel(text, options).graph;

interface Scope {
  readonly values: Map<string, Value>;
  readonly outer: Scope | null;
}

const TOKEN =
  /\s+|#[^\n]*|->|"(?:[^"\\]|\\.)*"|\$?[A-Za-z_](?:[\w./:-]*[\w.])?|-?(?:inf|nan)\b|-?\d[\w.+-]*|[(){}[\]<>,:=?*$]/gy;

class Parser {
  readonly domains = new Set<string>();
  readonly #tokens: { text: string; at: number }[] = [];
  #next = 0;

  constructor(
    readonly source: string,
    readonly random: Random,
  ) {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < source.length) {
      const at = TOKEN.lastIndex;
      const match = TOKEN.exec(source);
      if (!match) throw this.#error(at, `cannot read ${JSON.stringify(source.slice(at, at + 12))}`);
      if (!/^[\s#]/.test(match[0])) this.#tokens.push({ text: match[0], at });
    }
  }

  model(): Graph {
    const graph = this.#graph(null);
    if (this.#next < this.#tokens.length) throw this.#unexpected("the end");
    return graph;
  }

  #graph(outer: Scope | null): Graph {
    const graph = new Graph();
    const scope: Scope = { values: new Map(), outer };
    this.#list("(", ")", () => {
      const name = this.#label();
      const type = this.#accept(":") ? this.#type() : null;
      scope.values.set(name, graph.addInput(name, type));
    });
    this.#expect("->");
    const ports: { name: string; source: string; at: number }[] = [];
    const tokensOfPorts = this.#next;
    this.#skipParenthesis();
    this.#expect("{");
    while (!this.#accept("}")) this.#node(graph, scope);
    const end = this.#next;
    // Ports may introduce constants, and name values of nodes: read them last.
    this.#next = tokensOfPorts;
    this.#list("(", ")", () => {
      const at = this.#peekAt();
      const isConstant = this.#peek().startsWith("$");
      const name = isConstant ? this.#peek().slice(1) : this.#label();
      if (!isConstant && this.#accept("=")) graph.addOutput(name, this.#operand(graph, scope)!);
      else if (isConstant) graph.addOutput(name, this.#operand(graph, scope)!);
      else ports.push({ name, source: name, at });
      for (const port of ports.splice(0)) graph.addOutput(port.name, this.#find(scope, port.source, port.at));
    });
    this.#next = end;
    return graph;
  }

  #node(graph: Graph, scope: Scope): void {
    const outputs: (string | null)[] = [];
    do {
      const name = this.#label();
      outputs.push(name === "_" ? null : name);
    } while (this.#accept(","));
    this.#expect("=");
    const opName = this.#label();
    const split = opName.lastIndexOf("::");
    const domain = split < 0 ? "" : opName.slice(0, split);
    if (domain) this.domains.add(domain);
    const attributes: [string, Attribute][] = [];
    if (this.#peek() === "<") {
      this.#list("<", ">", () => {
        const name = this.#label();
        this.#expect("=");
        attributes.push([name, this.#attribute(scope)]);
      });
    }
    const inputs: (Value | null)[] = [];
    this.#list("(", ")", () => inputs.push(this.#operand(graph, scope)));
    const node = graph.addNode({
      op: split < 0 ? opName : opName.slice(split + 2),
      domain,
      inputs,
      attributes,
      outputs: outputs.map((label) => (label === null ? null : { label })),
      provenance: [],
    });
    outputs.forEach((label, i) => {
      if (label !== null) scope.values.set(label, node.outputs[i]!);
    });
    node.provenance = [node.displayName];
  }

  #operand(graph: Graph, scope: Scope): Value | null {
    const at = this.#peekAt();
    if (!this.#peek().startsWith("$")) {
      const name = this.#label();
      return name === "_" ? null : this.#find(scope, name, at);
    }
    const token = this.#take();
    const name = token === "$" ? this.#label() : token.slice(1);
    if (!this.#accept(":")) return this.#find(scope, name, at);
    const value = graph.addConstant(name, this.#tensor());
    scope.values.set(name, value);
    return value;
  }

  #attribute(scope: Scope): Attribute {
    const token = this.#peek();
    if (token === "(") return attr.graph(this.#graph(scope));
    if (token.startsWith('"')) return attr.string(JSON.parse(this.#take()) as string);
    if (dtypes.includes(token as DType)) return attr.tensor(this.#tensor());
    if (token !== "[") return isFloatText(token) ? attr.float(number(this.#take())) : attr.int(BigInt(this.#take()));
    const items: string[] = [];
    this.#list("[", "]", () => items.push(this.#take()));
    if (items[0]?.startsWith('"')) {
      return { type: "strings", value: items.map((text) => new TextEncoder().encode(JSON.parse(text) as string)) };
    }
    return items.some(isFloatText) ? attr.floats(items.map(number)) : attr.ints(items.map(BigInt));
  }

  #type(): TensorType {
    const at = this.#peekAt();
    const dtype = this.#take() as DType;
    if (!dtypes.includes(dtype)) throw this.#error(at, `${dtype} is no element type`);
    if (this.#peek() !== "[") return { dtype, shape: null };
    const shape: Dim[] = [];
    this.#list("[", "]", () => {
      const token = this.#take();
      shape.push(token === "?" ? null : /^\d+$/.test(token) ? Number(token) : token);
    });
    return { dtype, shape };
  }

  #tensor(): Tensor {
    const at = this.#peekAt();
    const type = this.#type();
    const dims = (type.shape ?? []) as number[];
    if (dims.some((dim) => typeof dim !== "number")) throw this.#error(at, "a constant has known dimensions");
    const dtype = type.dtype!;
    const count = elementCount(dims);
    if (!this.#accept("=")) return tensorOf(dtype, dims, seeded(dtype, count, this.random));
    const values: string[] = [];
    this.#list("{", "}", () => values.push(this.#take()));
    // One value stands for all of them.
    const all = values.length === 1 ? new Array<string>(count).fill(values[0]!) : values;
    if (all.length !== count) throw this.#error(at, `${count} values are needed, ${values.length} are given`);
    return tensorOf(dtype, dims, all);
  }

  #find(scope: Scope, name: string, at: number): Value {
    for (let s: Scope | null = scope; s; s = s.outer) {
      const value = s.values.get(name);
      if (value) return value;
    }
    throw this.#error(at, `${name} is not defined`);
  }

  #label(): string {
    const token = this.#peek();
    if (token.startsWith('"')) return JSON.parse(this.#take()) as string;
    if (!/^[A-Za-z_]/.test(token)) throw this.#unexpected("a name");
    return this.#take();
  }

  #list(open: string, close: string, item: () => void): void {
    this.#expect(open);
    if (this.#accept(close)) return;
    do item();
    while (this.#accept(","));
    this.#expect(close);
  }

  #skipParenthesis(): void {
    let depth = 0;
    do {
      const token = this.#take();
      if (token === "(") depth++;
      if (token === ")") depth--;
    } while (depth > 0);
  }

  #peek(): string {
    return this.#tokens[this.#next]?.text ?? "";
  }

  #peekAt(): number {
    return this.#tokens[this.#next]?.at ?? this.source.length;
  }

  #take(): string {
    const token = this.#tokens[this.#next];
    if (!token) throw this.#unexpected("more");
    this.#next++;
    return token.text;
  }

  #accept(text: string): boolean {
    if (this.#peek() !== text) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unexpected(`"${text}"`);
  }

  #unexpected(wanted: string): InferOptError {
    return this.#error(this.#peekAt(), `expected ${wanted}, found ${JSON.stringify(this.#peek() || "the end")}`);
  }

  #error(at: number, what: string): InferOptError {
    const before = this.source.slice(0, at).split("\n");
    const line = before.length;
    const column = before.at(-1)!.length + 1;
    return new InferOptError("GRAPH_TEXT", "input", `line ${line}, column ${column}: ${what}`, {
      fields: { line, column },
    });
  }
}

const isFloatText = (text: string): boolean => /^-?(\d*\.\d|\d+\.|\d+e|inf|nan)/i.test(text);

function number(text: string): number {
  if (text === "inf") return Number.POSITIVE_INFINITY;
  if (text === "-inf") return Number.NEGATIVE_INFINITY;
  return text === "nan" ? Number.NaN : Number(text);
}

function seeded(dtype: DType, count: number, random: Random): string[] {
  const isReal = dtype === "f32" || dtype === "f64" || dtype === "f16" || dtype === "bf16";
  return Array.from({ length: count }, () => String(isReal ? random.normal() : random.below(dtype === "bool" ? 2 : 4)));
}

function tensorOf(dtype: DType, dims: readonly number[], values: readonly string[]): Tensor {
  switch (dtype) {
    case "string":
      return Tensor.strings(
        dims,
        values.map((text) => new TextEncoder().encode(JSON.parse(text) as string)),
      );
    case "f32":
      return Tensor.f32(dims, values.map(number));
    case "f64":
      return Tensor.ofArray("f64", dims, Float64Array.from(values, number));
    case "f16":
      return Tensor.ofArray(
        "f16",
        dims,
        Uint16Array.from(values, (text) => f32ToF16Bits(number(text))),
      );
    case "bf16":
      return Tensor.ofArray(
        "bf16",
        dims,
        Uint16Array.from(values, (text) => f32ToBf16Bits(number(text))),
      );
    case "i64":
      return Tensor.i64(dims, values.map(BigInt));
    case "u64":
      return Tensor.ofArray("u64", dims, BigUint64Array.from(values, BigInt));
    case "i32":
      return Tensor.ofArray("i32", dims, Int32Array.from(values, Number));
    case "u32":
      return Tensor.ofArray("u32", dims, Uint32Array.from(values, Number));
    case "i16":
      return Tensor.ofArray("i16", dims, Int16Array.from(values, Number));
    case "u16":
      return Tensor.ofArray("u16", dims, Uint16Array.from(values, Number));
    case "i8":
      return Tensor.ofArray("i8", dims, Int8Array.from(values, Number));
    case "u8":
    case "bool":
      return Tensor.ofArray(dtype, dims, Uint8Array.from(values, Number));
    default:
      return Tensor.fromBytes(dtype, dims, new Uint8Array(packedBytes(dtype, elementCount(dims))));
  }
}
