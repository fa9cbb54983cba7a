/**
 * Graph to text: one line a node, names unique and stable, so that it can be
 * compared, reviewed as a diff, and read back by parse.ts.
 *
 *   (x: f32[N,3,8,8]) -> (y) {
 *     c = Conv<pads=[1,1,1,1]>(x, $w: f32[4,3,3,3])
 *     y = Relu(c)
 *   }
 *
 * A constant is introduced where it is first read, with `$`; one that a body reads
 * first gets a line of its own in front of the node. Sparse tensors and opaque attributes
 * are shown, and cannot be read back.
 */
import type { Attribute } from "../attribute.js";
import type { DType } from "../dtype.js";
import type { Graph } from "../graph.js";
import type { Node } from "../node.js";
import type { Shape } from "../shape.js";
import { aligned, type Tensor } from "../tensor.js";
import type { Value } from "../value.js";
import { isBareName } from "./tokens.js";

export interface PrintOptions {
  /** Constants of up to this many elements are printed with their values. */
  readonly valuesUpTo?: number;
  /** Also print the types of node outputs, as comments. */
  readonly types?: boolean;
}

export function printGraph(graph: Graph, options: PrintOptions = {}): string {
  return new Printer({ valuesUpTo: 8, types: false, ...options }).graph(graph, "");
}

class Printer {
  readonly #names = new Map<Value, string>();
  readonly #taken = new Set<string>();
  readonly #introduced = new Set<Value>();

  constructor(readonly options: Required<PrintOptions>) {}

  graph(graph: Graph, indent: string): string {
    for (const { name, value } of graph.outputs)
      if (value.graph === graph && !value.isGraphInput) this.#claim(value, name);
    const inputs = graph.inputs.map((value) => `${this.#name(value)}${this.#type(value)}`);
    const lines: string[] = [];
    for (const node of graph.nodes()) {
      for (const value of this.#readFirstInside(node)) lines.push(`${indent}  ${this.#reference(value)}`);
      lines.push(`${indent}  ${this.#node(node, `${indent}  `)}`);
    }
    const outputs = graph.outputs.map(({ name, value }) => {
      const shown = this.#reference(value);
      return shown === quote(name) ? shown : `${quote(name)} = ${shown}`;
    });
    return [`(${inputs.join(", ")}) -> (${outputs.join(", ")}) {`, ...lines, `${indent}}`].join("\n");
  }

  /** Constants of this graph that no line has introduced and that a body of the node reads: they get a line of their own. */
  *#readFirstInside(node: Node): Generator<Value> {
    if (node.bodies.length === 0) return;
    const isInside = (graph: Graph | null): boolean => {
      for (let at = graph; at; at = at.parent) if (at.owner === node) return true;
      return false;
    };
    for (const value of node.graph.constants) {
      if (this.#introduced.has(value)) continue;
      if (value.uses.some((use) => isInside(use.kind === "input" ? use.node.graph : use.graph))) yield value;
    }
  }

  #node(node: Node, indent: string): string {
    const outputs = node.outputs.map((value) => (value ? this.#name(value) : "_"));
    if (outputs.length === 0) outputs.push("_");
    const attributes = [...node.attributes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, attribute]) => `${quote(name)}=${this.#attribute(attribute, indent)}`);
    const inputs = node.inputs.map((value) => (value ? this.#reference(value) : "_"));
    const op = quote(node.opName);
    const types = node.outputs.map((value) => (value?.type ? `${value.dtype ?? "?"}${shapeText(value.shape)}` : "?"));
    const comment = this.options.types ? `  # ${types.join(", ")}` : "";
    return `${outputs.join(", ")} = ${op}${attributes.length ? `<${attributes.join(", ")}>` : ""}(${inputs.join(", ")})${comment}`;
  }

  /** A constant says type and values where it is first read. */
  #reference(value: Value): string {
    const tensor = value.constant;
    if (!tensor) return this.#name(value);
    const name = `$${this.#name(value)}`;
    if (this.#introduced.has(value)) return name;
    this.#introduced.add(value);
    return `${name}: ${this.#tensor(tensor)}`;
  }

  #tensor(tensor: Tensor): string {
    const type = `${tensor.dtype}${shapeText(tensor.dims)}`;
    if (tensor.elementCount > this.options.valuesUpTo) return type;
    const values = valuesOf(tensor);
    return values === null ? type : `${type} = {${values.join(", ")}}`;
  }

  #attribute(attribute: Attribute, indent: string): string {
    switch (attribute.type) {
      case "float":
        return formatFloat(attribute.value);
      case "int":
        return String(attribute.value);
      case "string":
        return quoted(new TextDecoder().decode(attribute.value));
      case "floats":
        return `[${attribute.value.map(formatFloat).join(",")}]`;
      case "ints":
        return `[${attribute.value.join(",")}]`;
      case "strings":
        return `[${attribute.value.map((text) => quoted(new TextDecoder().decode(text))).join(",")}]`;
      case "tensor":
        return this.#tensor(attribute.value);
      case "tensors":
        return `[${attribute.value.map((tensor) => this.#tensor(tensor)).join(",")}]`;
      case "graph":
        return this.graph(attribute.value, indent);
      case "graphs":
        return `[${attribute.value.map((body) => this.graph(body, indent)).join(", ")}]`;
      case "opaque":
        return "<opaque>";
    }
  }

  #type(value: Value): string {
    return value.type?.dtype ? `: ${value.type.dtype}${shapeText(value.type.shape)}` : "";
  }

  #name(value: Value): string {
    return this.#names.get(value) ?? this.#claim(value, value.label);
  }

  #claim(value: Value, label: string): string {
    const known = this.#names.get(value);
    if (known) return known;
    let name = quote(label || "value");
    for (let i = 1; this.#taken.has(name); i++) name = quote(`${label || "value"}_${i}`);
    this.#taken.add(name);
    this.#names.set(value, name);
    return name;
  }
}

/** A name as the text has it: in quotes where it could be taken for something else. */
export const quote = (name: string): string => (isBareName(name) ? name : quoted(name));

/** What drives a terminal or turns the order of reading, and JSON leaves as it is. */
const unprintable = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const quoted = (text: string): string =>
  JSON.stringify(text).replace(unprintable, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Nothing for an unknown rank; symbols may be whole expressions and are quoted like names. */
const shapeText = (shape: Shape | null): string =>
  shape === null ? "" : `[${shape.map((dim) => (typeof dim === "string" ? quote(dim) : (dim ?? "?"))).join(",")}]`;

const formatFloat = (value: number): string => formatReal(value, shortest);
const formatDouble = (value: number): string => formatReal(value, String);

/** Always with a point or an exponent: that is what tells floats from integers. */
function formatReal(value: number, digits: (value: number) => string): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (Object.is(value, -0)) return "-0.0";
  const text = digits(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** The fewest digits that read back as the same float32, or the double itself when it is none. */
function shortest(value: number): string {
  if (Math.fround(value) !== value) return String(value);
  for (let digits = 1; digits <= 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}

const floatTypes: ReadonlySet<DType> = new Set<DType>(["f32", "f16", "bf16"]);

function valuesOf(tensor: Tensor): string[] | null {
  if (tensor.dtype === "string") return tensor.utf8().map((text) => quoted(new TextDecoder().decode(text)));
  if (tensor.dtype === "f64") return Array.from(aligned(Float64Array, tensor.bytes()), formatDouble);
  if (floatTypes.has(tensor.dtype)) return Array.from(tensor.toF32()!, formatFloat);
  return tensor.bigints()?.map(String) ?? null;
}
