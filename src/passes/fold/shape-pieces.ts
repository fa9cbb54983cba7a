/** What a computed shape is put together from, and where in a graph its sizes are to be had. */
import type { Value } from "../../ir/index.js";
import { atomWithin, type AxisRun as Run, type ShapeSum, sumOfSources } from "./shape-sum.js";
import { keyOf, type Size } from "./size.js";
import type { SizeFacts } from "./size-rules.js";

/** A stretch of a shape vector: constants, or the sizes of some axes of a tensor, or what a value holds. */
export type Piece =
  | { readonly kind: "numbers"; readonly numbers: readonly number[] }
  | Run
  | { readonly kind: "value"; readonly value: Value }
  | ShapeSum;

const MAX_SOURCES = 8;

/** The values of a graph that have sizes that are not known, in the order in which they are offered. */
export class SizeSources {
  /** Where each size is found, by its key; first places first. */
  readonly #places = new Map<string, { value: Value; axis: number }[]>();
  /** The same, by the one atom that a size is made of. */
  readonly #atoms = new Map<string, { value: Value; axis: number }[]>();
  /** Vectors of one unknown element that some value holds, by its key. */
  readonly #holders = new Map<string, Value>();

  constructor(readonly facts: SizeFacts) {}

  offer(value: Value): void {
    const vector = this.facts.vectorOf(value);
    const [only] = vector?.elements ?? [];
    if (vector?.rank === 1 && vector.dtype === "i64" && vector.elements.length === 1 && only != null) {
      if (!this.#holders.has(keyOf(only))) this.#holders.set(keyOf(only), value);
    }
    for (const [axis, size] of (this.facts.shapeOf(value) ?? []).entries()) {
      if (typeof size === "number") continue;
      const found = this.#places.get(keyOf(size)) ?? [];
      if (found.length < MAX_SOURCES) found.push({ value, axis });
      this.#places.set(keyOf(size), found);
      const name = atomWithin(size);
      const near = name === null ? [] : (this.#atoms.get(name) ?? []);
      if (near.length < MAX_SOURCES) near.push({ value, axis });
      if (name !== null) this.#atoms.set(name, near);
    }
  }

  /** The elements of a shape vector, taken together where one node gives several; null when one is nowhere to be had. */
  piecesOf(elements: readonly Size[], withSums: boolean): Piece[] | null {
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
      const run = this.longestRun(elements, at);
      const holder = this.#holders.get(keyOf(size));
      const sum = run || !withSums ? null : sumOfSources(elements.slice(at), this.#atoms, this.facts);
      if (run) pieces.push(run);
      else if (sum) pieces.push(sum);
      else if (holder) pieces.push({ kind: "value", value: holder });
      else return null;
      at += run ? run.end - run.start : (sum?.constants.length ?? 1);
    }
    return pieces;
  }

  /** The tensor that has most of the sizes from `at` on in a row; the first one of those. */
  longestRun(elements: readonly Size[], at: number): Run | null {
    let best: Run | null = null;
    for (const { value, axis } of this.#places.get(keyOf(elements[at]!)) ?? []) {
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
}

/** Names for pieces. */
export class PieceKeys {
  readonly #numbers = new Map<Value, number>();

  /** Equal for pieces that one node serves. */
  of(piece: Piece): string {
    const number = (value: Value): number => {
      if (!this.#numbers.has(value)) this.#numbers.set(value, this.#numbers.size);
      return this.#numbers.get(value)!;
    };
    if (piece.kind === "numbers") return `[${piece.numbers.join()}]`;
    if (piece.kind === "sum") {
      const terms = piece.terms.map(({ factor, runs }) => `${factor}*${runs.map((run) => this.of(run)).join("*")}`);
      return `(${[...terms, piece.constants.join()].join("+")})`;
    }
    return piece.kind === "value" ? `v${number(piece.value)}` : `s${number(piece.of)}:${piece.start}:${piece.end}`;
  }

  readonly ofAll = (pieces: readonly Piece[]): string => pieces.map((piece) => this.of(piece)).join(" ");
}
