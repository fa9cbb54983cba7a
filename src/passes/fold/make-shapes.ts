/** The nodes that make shapes anew from their pieces, each of them once. */
import { attr, type Graph, type Node, Tensor, type Value } from "../../ir/index.js";
import type { Piece, PieceKeys } from "./shape-pieces.js";
import type { ShapeSum } from "./shape-sum.js";

/** For readers in the order of the graph: what is made for one serves those that come later. */
export class ShapeMaker {
  readonly #graph: Graph;
  readonly #keys: PieceKeys;
  readonly #made = new Map<string, Value>();

  constructor(graph: Graph, keys: PieceKeys) {
    this.#graph = graph;
    this.#keys = keys;
  }

  /** The vector of the pieces, or the one size at a place of it; made before a node. */
  make(pieces: readonly Piece[], place: number | null, before: Node): Value {
    const all = this.#keys.ofAll(pieces);
    const key = place === null ? all : `${all} at ${place}`;
    const vector = this.#made.get(all) ?? this.#vector(pieces, before);
    this.#made.set(all, vector);
    const value = this.#made.get(key) ?? this.#pick(vector, place!, before);
    this.#made.set(key, value);
    return value;
  }

  #pick(vector: Value, place: number, before: Node): Value {
    const index = this.#graph.addConstant("axis", Tensor.i64([], [place]));
    return this.#add("Gather", [vector, index], { axis: attr.int(0) }, [], before);
  }

  #vector(pieces: readonly Piece[], before: Node): Value {
    const parts = pieces.map((piece) => {
      const key = this.#keys.of(piece);
      const value = this.#made.get(key) ?? this.#makePiece(piece, before);
      this.#made.set(key, value);
      return value;
    });
    if (parts.length === 1) return parts[0]!;
    const length = parts.reduce((sum, { shape }) => sum + ((shape?.[0] ?? 0) as number), 0);
    return this.#add("Concat", parts, { axis: attr.int(0) }, [length], before);
  }

  #makePiece(piece: Piece, before: Node): Value {
    if (piece.kind === "value") return piece.value;
    if (piece.kind === "sum") return this.#makeSum(piece, before);
    if (piece.kind === "numbers") {
      return this.#graph.addConstant("sizes", Tensor.i64([piece.numbers.length], piece.numbers));
    }
    const { of, start, end } = piece;
    const isWhole = start === 0 && end === of.shape?.length;
    const attributes = isWhole ? {} : { start: attr.int(start), end: attr.int(end) };
    return this.#add("Shape", [of], attributes, [end - start], before);
  }

  /** Products first, then the sum of them from left to right; what is positive comes first. */
  #makeSum({ terms, constants }: ShapeSum, before: Node): Value {
    const shape = [constants.length];
    const numbers = (values: readonly number[]): Value => this.#graph.addConstant("sizes", Tensor.i64(shape, values));
    let sum: Value | null = null;
    for (const { factor, runs } of terms) {
      const vectors = runs.map((run) => this.#vector([run], before));
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
    return this.#graph.addNode({ op, inputs, attributes, outputs, provenance: before.provenance }, before).output;
  }
}
