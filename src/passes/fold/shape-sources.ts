/**
 * Computed shapes, made anew in as few nodes as possible from the tensors that have the
 * sizes:
 *
 *   Concat(Unsqueeze(Gather(Shape(Relu(x)), 0)), [8], Unsqueeze(Gather(Shape(y), 2)), ...)
 *     =>  Concat(Shape<start=0, end=1>(x), [8], Shape<start=2, end=4>(x))
 *
 * and arithmetic on one size after the other as arithmetic on vectors of them:
 *
 *   Concat(h - h / 4 * 4, w - w / 4 * 4)  =>  Shape(x)[2:4] - Shape(MaxPool(x))[2:4] * 4
 *
 * All readers of shapes are planned together, since what one of them leaves behind may
 * still serve another; in several ways, of which the one that makes the graph smallest is
 * carried out.
 */
import { attr, type Graph, graphsWithin, type Node, opsetOf, Tensor, type Value } from "../../ir/index.js";
import { isPure } from "../../ops/facts.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { atomWithin, type AxisRun as Run, type ShapeSum, sumOfSources } from "./shape-sum.js";
import { shapeOps } from "./shape-vector.js";
import { keyOf, type Size } from "./size.js";
import { sizeFacts } from "./size-facts.js";
import type { SizeFacts } from "./size-rules.js";

export const eliminateShapeDetour = defineGraphPass({
  name: "eliminate-shape-detour",
  summary: "Read sizes from the tensors that have them, each once",
  numerics: "exact",
  run({ model, claim }) {
    // Since opset 15 a Shape takes a part of the sizes.
    if (opsetOf(model) < 15) return;
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      const planner = bestOf(WAYS.map((way) => new Planner(graph, facts, way)));
      if (!planner) continue;
      if (!claim(planner.title)) return;
      planner.apply();
    }
  },
});

/** What a plan may do besides reading sizes where they are. */
interface Way {
  /** Also read single sizes anew, for a Range. */
  readonly scalars: boolean;
  /** Also reckon with vectors of sizes. */
  readonly sums: boolean;
}

const WAYS: readonly Way[] = [
  { scalars: false, sums: false },
  { scalars: true, sums: false },
  { scalars: false, sums: true },
  { scalars: true, sums: true },
];

/** The plan that saves most nodes, the first of several; null when none saves any. */
function bestOf(planners: readonly Planner[]): Planner | null {
  let best: Planner | null = null;
  let most = 0;
  for (const planner of planners) {
    const saved = planner.savings();
    if (saved > most) [best, most] = [planner, saved];
  }
  return best;
}

/** A stretch of a shape vector: constants, or the sizes of some axes of a tensor, or what a value holds. */
type Piece =
  | { readonly kind: "numbers"; readonly numbers: readonly number[] }
  | Run
  | { readonly kind: "value"; readonly value: Value }
  | ShapeSum;

/** A node that reads a computed shape for another purpose than computing a shape. */
interface Reader {
  readonly node: Node;
  readonly index: number;
  readonly pieces: readonly Piece[];
  /** For one that reads a size by itself: where it is in the vector of the pieces, which has it whole. */
  readonly place: number | null;
}

const shapeOp = new Set(shapeOps);
const MAX_SOURCES = 8;

class Planner {
  readonly #readers: Reader[] = [];
  /** Where each size is found, by its key; first places first. */
  readonly #sources = new Map<string, { value: Value; axis: number }[]>();
  /** The same, by the one atom that a size is made of. */
  readonly #atoms = new Map<string, { value: Value; axis: number }[]>();
  /** Vectors of one unknown element that some value holds, by its key. */
  readonly #holders = new Map<string, Value>();
  readonly #numbers = new Map<Value, number>();
  /** Readers of single sizes, with where they find theirs. */
  readonly #scalars: { node: Node; index: number; size: Size; own: Run }[] = [];
  readonly #order = new Map<Node, number>();

  constructor(
    readonly graph: Graph,
    readonly facts: SizeFacts,
    readonly way: Way,
  ) {
    for (const input of graph.inputs) this.#offer(input);
    for (const node of graph.nodes()) {
      this.#order.set(node, this.#order.size);
      for (const [index, input] of node.inputs.entries()) {
        if (input && !isArithmetic(node, index, facts)) this.#plan(node, index, input);
      }
      for (const output of node.outputs) if (output) this.#offer(output);
    }
    if (way.scalars) this.#planScalars();
  }

  get title(): string {
    return this.#readers[0]!.node.displayName;
  }

  #offer(value: Value): void {
    const vector = this.facts.vectorOf(value);
    const [only] = vector?.elements ?? [];
    if (vector?.rank === 1 && vector.dtype === "i64" && vector.elements.length === 1 && only != null) {
      if (!this.#holders.has(keyOf(only))) this.#holders.set(keyOf(only), value);
    }
    for (const [axis, size] of (this.facts.shapeOf(value) ?? []).entries()) {
      if (typeof size === "number") continue;
      const found = this.#sources.get(keyOf(size)) ?? [];
      if (found.length < MAX_SOURCES) found.push({ value, axis });
      this.#sources.set(keyOf(size), found);
      const name = atomWithin(size);
      const near = name === null ? [] : (this.#atoms.get(name) ?? []);
      if (near.length < MAX_SOURCES) near.push({ value, axis });
      if (name !== null) this.#atoms.set(name, near);
    }
  }

  #plan(node: Node, index: number, input: Value): void {
    if (input.constant || input.graph !== this.graph || !input.producer) return;
    const vector = this.facts.vectorOf(input);
    if (vector?.dtype !== "i64" || vector.elements.some((size) => size === null)) return;
    const elements = vector.elements as readonly Size[];
    if (elements.every((size) => typeof size === "number")) return;
    if (vector.rank === 0) {
      const own = this.way.scalars ? this.#longestRun(elements, 0) : null;
      if (own) this.#scalars.push({ node, index, size: elements[0]!, own });
      return;
    }
    const pieces = this.#piecesOf(targetOf(node, index, elements, this.facts));
    if (pieces) this.#readers.push({ node, index, pieces, place: null });
  }

  /** Single sizes are picked out of the vectors that are made for others, where one of those has them. */
  #planScalars(): void {
    const runs = this.#readers.flatMap(({ pieces }) => pieces.filter((piece) => piece.kind === "axes"));
    const at = (node: Node): number => this.#order.get(node)!;
    for (const { node, index, size, own } of this.#scalars) {
      const isMade = (run: Run): boolean => !run.of.producer || at(run.of.producer) < at(node);
      const places = runs.map((run) => (isMade(run) ? this.#placeIn(run, size) : -1));
      const found = places.findIndex((place) => place >= 0);
      this.#readers.push({ node, index, pieces: [runs[found] ?? own], place: places[found] ?? 0 });
    }
    // What is made for one reader stands before all that come later.
    this.#readers.sort((one, other) => at(one.node) - at(other.node));
  }

  #placeIn({ of, start, end }: Run, size: Size): number {
    return this.facts
      .shapeOf(of)!
      .slice(start, end)
      .findIndex((other) => keyOf(other) === keyOf(size));
  }

  #piecesOf(elements: readonly Size[]): Piece[] | null {
    const pieces: Piece[] = [];
    for (let at = 0; at < elements.length; ) {
      const size = elements[at]!;
      const last = pieces.at(-1);
      if (typeof size === "number") {
        if (last?.kind === "numbers") pieces[pieces.length - 1] = { kind: "numbers", numbers: [...last.numbers, size] };
        else pieces.push({ kind: "numbers", numbers: [size] });
        at++;
        continue;
      }
      const run = this.#longestRun(elements, at);
      const holder = this.#holders.get(keyOf(size));
      const sum = run || !this.way.sums ? null : sumOfSources(elements.slice(at), this.#atoms, this.facts);
      if (run) pieces.push(run);
      else if (sum) pieces.push(sum);
      else if (holder) pieces.push({ kind: "value", value: holder });
      else return null;
      at += run ? run.end - run.start : (sum?.constants.length ?? 1);
    }
    return pieces;
  }

  /** The tensor that has most of the sizes from `at` on in a row; the first one of those. */
  #longestRun(elements: readonly Size[], at: number): Run | null {
    let best: Run | null = null;
    for (const { value, axis } of this.#sources.get(keyOf(elements[at]!)) ?? []) {
      const shape = this.facts.shapeOf(value)!;
      let length = 1;
      while (at + length < elements.length && axis + length < shape.length) {
        if (keyOf(elements[at + length]!) !== keyOf(shape[axis + length]!)) break;
        length++;
      }
      // Constants at the end cost nothing as constants.
      while (typeof elements[at + length - 1] === "number") length--;
      if (!best || length > best.end - best.start) best = { kind: "axes", of: value, start: axis, end: axis + length };
    }
    return best;
  }

  /** Equal for pieces that one node serves. */
  #keyOf(piece: Piece): string {
    const number = (value: Value): number => {
      if (!this.#numbers.has(value)) this.#numbers.set(value, this.#numbers.size);
      return this.#numbers.get(value)!;
    };
    if (piece.kind === "numbers") return `[${piece.numbers.join()}]`;
    if (piece.kind === "sum") {
      const terms = piece.terms.map(({ factor, runs }) => `${factor}*${runs.map((run) => this.#keyOf(run)).join("*")}`);
      return `(${[...terms, piece.constants.join()].join("+")})`;
    }
    return piece.kind === "value" ? `v${number(piece.value)}` : `s${number(piece.of)}:${piece.start}:${piece.end}`;
  }

  /** How many nodes fewer there are when all planned shapes are made anew. */
  savings(): number {
    if (this.#readers.length === 0) return 0;
    const made = new Set<string>();
    const kept = new Set<Value>();
    let arithmetic = 0;
    const need = (piece: Piece): void => {
      const key = this.#keyOf(piece);
      if (piece.kind === "value") kept.add(piece.value);
      if (piece.kind === "axes") kept.add(piece.of);
      if (piece.kind === "sum" && !made.has(key)) {
        arithmetic += piece.nodeCount - 1;
        for (const { runs } of piece.terms) for (const run of runs) need(run);
      }
      if (piece.kind === "axes" || piece.kind === "sum") made.add(key);
    };
    for (const { pieces, place } of this.#readers) {
      const key = this.#keyOfAll(pieces);
      if (pieces.length > 1) made.add(key);
      if (place !== null) made.add(`${key} at ${place}`);
      for (const piece of pieces) need(piece);
    }
    return this.#deadAfter(kept) - made.size - arithmetic;
  }

  readonly #keyOfAll = (pieces: readonly Piece[]): string => pieces.map((piece) => this.#keyOf(piece)).join(" ");

  /** How many nodes nobody needs when the readers read something else. */
  #deadAfter(kept: ReadonlySet<Value>): number {
    const leaving = new Map<Node, Set<number>>();
    for (const { node, index } of this.#readers) leaving.set(node, (leaving.get(node) ?? new Set()).add(index));
    const dead = new Set<Node>();
    const isUnread = (value: Value): boolean =>
      !kept.has(value) &&
      value.uses.every(
        (use) => use.kind === "input" && (dead.has(use.node) || (leaving.get(use.node)?.has(use.index) ?? false)),
      );
    const pending = this.#readers.map(({ node, index }) => node.inputs[index]!.producer);
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      if (!node || dead.has(node) || node.graph !== this.graph || !isPure(node)) continue;
      if (!node.outputs.every((output) => !output || isUnread(output))) continue;
      dead.add(node);
      for (const input of node.inputs) pending.push(input?.producer ?? null);
    }
    return dead.size;
  }

  apply(): void {
    const made = new Map<string, Value>();
    for (const { node, index, pieces, place } of this.#readers) {
      const all = this.#keyOfAll(pieces);
      const key = place === null ? all : `${all} at ${place}`;
      const vector = made.get(all) ?? this.#make(pieces, node, made);
      made.set(all, vector);
      const value = made.get(key) ?? this.#pick(vector, place!, node);
      made.set(key, value);
      const old = node.inputs[index]!;
      this.graph.setInput(node, index, value);
      if (old.useCount === 0 && old.producer) removeWithFeeders(old.producer);
    }
  }

  #pick(vector: Value, place: number, before: Node): Value {
    const index = this.graph.addConstant("axis", Tensor.i64([], [place]));
    return this.#add("Gather", [vector, index], { axis: attr.int(0) }, [], before);
  }

  #make(pieces: readonly Piece[], before: Node, made: Map<string, Value>): Value {
    const parts = pieces.map((piece) => {
      const key = this.#keyOf(piece);
      const value = made.get(key) ?? this.#makePiece(piece, before, made);
      made.set(key, value);
      return value;
    });
    if (parts.length === 1) return parts[0]!;
    const length = parts.reduce((sum, { shape }) => sum + ((shape?.[0] ?? 0) as number), 0);
    return this.#add("Concat", parts, { axis: attr.int(0) }, [length], before);
  }

  #makePiece(piece: Piece, before: Node, made: Map<string, Value>): Value {
    if (piece.kind === "value") return piece.value;
    if (piece.kind === "sum") return this.#makeSum(piece, before, made);
    if (piece.kind === "numbers") {
      return this.graph.addConstant("sizes", Tensor.i64([piece.numbers.length], piece.numbers));
    }
    const { of, start, end } = piece;
    const isWhole = start === 0 && end === of.shape?.length;
    const attributes = isWhole ? {} : { start: attr.int(start), end: attr.int(end) };
    return this.#add("Shape", [of], attributes, [end - start], before);
  }

  /** Products first, then the sum of them from left to right; what is positive comes first. */
  #makeSum({ terms, constants }: ShapeSum, before: Node, made: Map<string, Value>): Value {
    const shape = [constants.length];
    const numbers = (values: readonly number[]): Value => this.graph.addConstant("sizes", Tensor.i64(shape, values));
    let sum: Value | null = null;
    for (const { factor, runs } of terms) {
      const vectors = runs.map((run) => this.#make([run], before, made));
      const size = sum === null ? factor : Math.abs(factor);
      if (size !== 1) vectors.push(numbers(constants.map(() => size)));
      const product = vectors.reduce((a, b) => this.#add("Mul", [a, b], {}, shape, before));
      sum = sum === null ? product : this.#add(factor < 0 ? "Sub" : "Add", [sum, product], {}, shape, before);
    }
    return constants.every((number) => number === 0)
      ? sum!
      : this.#add("Add", [sum!, numbers(constants)], {}, shape, before);
  }

  #add(
    op: string,
    inputs: readonly Value[],
    attributes: Readonly<Record<string, ReturnType<typeof attr.int>>>,
    shape: readonly number[],
    before: Node,
  ): Value {
    const outputs = [{ label: `${before.output.label}/${op}`, type: { dtype: "i64", shape } as const }];
    return this.graph.addNode({ op, inputs, attributes, outputs, provenance: before.provenance }, before).output;
  }
}

/** Whether an input of a node goes into another shape that is known: then that one is looked at. */
function isArithmetic(node: Node, index: number, facts: SizeFacts): boolean {
  if (node.domain !== "" || !shapeOp.has(node.op)) return false;
  // These say by another input what to do with a tensor of any kind.
  if (index > 0 && (node.op === "Reshape" || node.op === "Slice")) return facts.vectorOf(node.output) !== null;
  return true;
}

/** What a reader needs to be told: a Reshape copies sizes that its tensor has in the same place. */
function targetOf(node: Node, index: number, elements: readonly Size[], { shapeOf }: SizeFacts): readonly Size[] {
  if (!node.is("Reshape") || index !== 1 || node.int("allowzero", 0) !== 0) return elements;
  const shape = shapeOf(node.inputs[0]);
  return elements.map((size, axis) => {
    const own = shape?.[axis];
    return typeof size !== "number" && own !== undefined && keyOf(own) === keyOf(size) ? 0 : size;
  });
}
