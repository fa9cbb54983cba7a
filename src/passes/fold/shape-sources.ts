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
import { type Graph, graphsWithin, type Node, nodesWithin, opsetOf, type Value } from "../../ir/index.js";
import { isPure } from "../../ops/facts.js";
import { defineGraphPass, removeWithFeeders } from "../../rewrite/index.js";
import { ShapeMaker } from "./make-shapes.js";
import { type Piece, PieceKeys, SizeSources } from "./shape-pieces.js";
import type { AxisRun as Run } from "./shape-sum.js";
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
    // Without them there are no sizes that somebody reads.
    if (![...nodesWithin(model.graph)].some((node) => node.is("Shape") || node.is("Size"))) return;
    const facts = sizeFacts();
    for (const graph of graphsWithin(model.graph)) {
      const planner = bestOf(WAYS.map((way) => new Planner(graph, facts, way)));
      if (planner && claim(planner.title)) planner.apply();
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

/** A node that reads a computed shape for another purpose than computing a shape. */
interface Reader {
  readonly node: Node;
  readonly index: number;
  readonly pieces: readonly Piece[];
  /** For one that reads a size by itself: where it is in the vector of the pieces, which has it whole. */
  readonly place: number | null;
}

const shapeOp = new Set(shapeOps);

class Planner {
  readonly #readers: Reader[] = [];
  readonly #sources: SizeSources;
  readonly #keys = new PieceKeys();
  /** Readers of single sizes, with where they find theirs. */
  readonly #scalars: { node: Node; index: number; size: Size; own: Run }[] = [];
  readonly #order = new Map<Node, number>();

  constructor(
    readonly graph: Graph,
    readonly facts: SizeFacts,
    readonly way: Way,
  ) {
    this.#sources = new SizeSources(facts);
    for (const input of graph.inputs) this.#sources.offer(input);
    for (const node of graph.nodes()) {
      this.#order.set(node, this.#order.size);
      for (const [index, input] of node.inputs.entries()) {
        if (input && !isArithmetic(node, index, facts)) this.#plan(node, index, input);
      }
      for (const output of node.outputs) if (output) this.#sources.offer(output);
    }
    if (way.scalars) this.#planScalars();
  }

  get title(): string {
    return this.#readers[0]!.node.displayName;
  }

  #plan(node: Node, index: number, input: Value): void {
    if (input.constant || input.graph !== this.graph || !input.producer) return;
    const vector = this.facts.vectorOf(input);
    if (vector?.dtype !== "i64" || vector.elements.some((size) => size === null)) return;
    const elements = vector.elements as readonly Size[];
    if (elements.every((size) => typeof size === "number")) return;
    if (vector.rank === 0) {
      const own = this.way.scalars ? this.#sources.longestRun(elements, 0) : null;
      if (own) this.#scalars.push({ node, index, size: elements[0]!, own });
      return;
    }
    const pieces = this.#sources.piecesOf(targetOf(node, index, elements, this.facts), this.way.sums);
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

  /** How many nodes fewer there are when all planned shapes are made anew. */
  savings(): number {
    if (this.#readers.length === 0) return 0;
    const made = new Set<string>();
    const kept = new Set<Value>();
    let arithmetic = 0;
    const need = (piece: Piece): void => {
      const key = this.#keys.of(piece);
      if (piece.kind === "value") kept.add(piece.value);
      if (piece.kind === "axes") kept.add(piece.of);
      if (piece.kind === "sum" && !made.has(key)) {
        arithmetic += piece.nodeCount - 1;
        for (const { runs } of piece.terms) for (const run of runs) need(run);
      }
      if (piece.kind === "axes" || piece.kind === "sum") made.add(key);
    };
    for (const { pieces, place } of this.#readers) {
      const key = this.#keys.ofAll(pieces);
      if (pieces.length > 1) made.add(key);
      if (place !== null) made.add(`${key} at ${place}`);
      for (const piece of pieces) need(piece);
    }
    return this.#deadAfter(kept) - made.size - arithmetic;
  }

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
    const maker = new ShapeMaker(this.graph, this.#keys);
    const old = this.#readers.map(({ node, index }) => node.inputs[index]!);
    for (const { node, index, pieces, place } of this.#readers) {
      this.graph.setInput(node, index, maker.make(pieces, place, node));
    }
    // Not before: what is made for a reader that goes with others may serve one that stays.
    for (const { useCount, producer } of old) if (useCount === 0 && producer?.attached) removeWithFeeders(producer);
  }
}

/** Whether an input of a node goes into another shape that is known: then that one is looked at. */
function isArithmetic(node: Node, index: number, facts: SizeFacts): boolean {
  if (node.domain !== "" || !shapeOp.has(node.op)) return false;
  // These say by it what to do with a tensor of any kind, or how large to make one.
  if (node.op === "ConstantOfShape" || (index > 0 && (node.op === "Reshape" || node.op === "Slice")))
    return facts.vectorOf(node.output) !== null;
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
