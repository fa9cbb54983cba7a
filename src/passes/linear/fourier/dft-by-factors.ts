/**
 * A DFT of first * second places in two steps, of place n1 + first * n2 and bin second * k1 + k2:
 *
 *   x as [n2, n1, rows]  =>  for each n1 a product that adds up n2: [n1, k2, rows]  =>  one that adds up n1: [k1, k2, rows]
 *
 * What is between both is turned by exp(-2 pi i n1 k2 / n), which stands in the weights of the first. Back to real places it is the other
 * way round.
 */
import { attr, type Dim, type Shape, Tensor, type Value } from "../../../ir/index.js";
import type { RewriteContext } from "../../../rewrite/index.js";
import { type Label, type Labelled, LabelledNodes, single } from "../labelled.js";
import { multiplyPair } from "../labelled-pair.js";
import type { AxisTransform } from "./dft-by-matrix.js";
import { firstOf } from "./first-of.js";
import { binsOf, isToReal, transformMatrix, weightOf } from "./transform.js";
import type { Factors } from "./transform-cost.js";

/** null where a size would have to be computed that is not known. */
export function dftByFactors(given: AxisTransform, factors: Factors, context: RewriteContext): Value | null {
  const steps = new Steps(given, factors, context);
  return isToReal(given.transform) ? steps.toPlaces() : steps.toBins();
}

class Steps {
  readonly #nodes: LabelledNodes;
  readonly #front: readonly Label[];
  readonly #behind: readonly Label[];
  readonly #rows: readonly Label[];
  /** Of what is given, where it has more than one. */
  readonly #parts: readonly Label[];
  /** How many k1 there are. */
  readonly #turns: number;

  constructor(
    readonly given: AxisTransform,
    readonly factors: Factors,
    readonly context: RewriteContext,
  ) {
    const { x, along, transform } = given;
    const { first, second } = factors;
    const names = x.shape!.map((_, axis): Label => String(axis));
    [this.#front, this.#behind] = [names.slice(0, along), names.slice(along + 1, -1)];
    this.#rows = [...this.#front, ...this.#behind];
    this.#parts = transform.from.parts === 2 ? ["given"] : [];
    this.#turns = Math.ceil(binsOf(transform) / second);
    const known = new Map<Label, Dim>([
      ...names.map((name, axis): [Label, Dim] => [name, x.shape![axis]!]),
      ...Object.entries({ n1: first, n2: second, k1: this.#turns, k2: second }),
      ...Object.entries({ given: transform.from.parts, part: 2, made: transform.to.parts, bin: binsOf(transform) }),
    ]);
    this.#nodes = new LabelledNodes(context, { known, unsure: new Set() });
  }

  toBins(): Value | null {
    const { x, transform, scale } = this.given;
    const { length, inverse, from, to } = transform;
    const { first, second } = this.factors;
    const places = this.#apart(x, ["n2", "n1"]);
    const toSecond = transformMatrix({ length, inverse, from, to: { parts: 2, places: second } });
    const turns = toSecond.map((weight) => scale * weight);
    const given = ["part", "k2", "n2", "n1", ...this.#parts];
    const turned = places && this.#product(places, turns, given, ["n1", "part", "k2", ...this.#rows]);
    const ofFirst = { from: { parts: 2, places: first }, to: { parts: 2, places: this.#turns } } as const;
    // The first step has the whole of 1 / n.
    const circle = transformMatrix({ length: first, inverse, ...ofFirst }).map((weight) =>
      inverse ? first * weight : weight,
    );
    const made = ["made", "k1", "k2", ...this.#rows];
    const sums = turned && this.#product(turned, circle, ["made", "k1", "n1", "part"], made);
    const groups = [["made"], ["k1", "k2"], ...single(this.#rows)];
    const bins = sums && this.#nodes.regroup(sums.value, single(sums.labels), groups);
    if (!bins) return null;
    const isWhole = this.#turns * second === to.places;
    const shape = ["made", "bin", ...this.#rows].map((label) => this.#nodes.sizes.known.get(label) ?? null);
    const value = isWhole ? bins : firstOf(bins, shape, 1, this.context);
    const labels = ["made", "bin", ...this.#rows];
    return this.#nodes.transpose({ value, labels }, [...this.#front, "bin", ...this.#behind, "made"]).value;
  }

  toPlaces(): Value | null {
    const { x, transform, scale } = this.given;
    const { length } = transform;
    const { first, second } = this.factors;
    const bins = this.#apart(this.#counted(x), ["k1", "k2"]);
    const ofFirst = { from: { parts: 2, places: this.#turns }, to: { parts: 2, places: first } } as const;
    const circle = transformMatrix({ length: first, inverse: true, ...ofFirst }).map((weight) => first * weight);
    const order = ["n1", "part", "k2", ...this.#rows];
    const turned = bins && this.#product(bins, circle, ["part", "n1", "k1", "given"], order);
    const ofSecond = { from: { parts: 2, places: second }, to: { parts: 2, places: length } } as const;
    const toAll = transformMatrix({ length, inverse: true, ...ofSecond });
    // The real part alone; how often a bin counts has been seen to.
    const real = toAll.subarray(0, toAll.length / 2).map((weight) => length * scale * weight);
    const sums = turned && this.#product(turned, real, ["n2", "n1", "k2", "part"], ["n1", "n2", ...this.#rows]);
    if (!sums) return null;
    const inOrder = [...this.#front, "n2", "n1", ...this.#behind];
    const groups = [...single(this.#front), ["n2", "n1"], ...single(this.#behind), ["made"]];
    return this.#nodes.regroup(this.#nodes.transpose(sums, inOrder).value, single(inOrder), groups);
  }

  /** Bins times how often each counts, and 0 for those that only k1 and k2 have. */
  #counted(x: Value): Value {
    const { along, transform } = this.given;
    const { create, constant } = this.context;
    const { places } = transform.from;
    const counts = Array.from({ length: places }, (_, place) => weightOf(transform, place));
    const dims = [places, ...this.#behind.map(() => 1), 1];
    const counted = create("Mul", [x, constant(`${x.label}/counts`, Tensor.f32(dims, counts))]).output;
    const all = this.#turns * this.factors.second;
    const shape: Shape = x.shape!.with(along, all);
    const pads = shape.flatMap(() => 0).concat(shape.map((_, axis) => (axis === along ? all - places : 0)));
    const added = constant(`${x.label}/pads`, Tensor.i64([pads.length], pads));
    return create("Pad", [counted, added], { mode: attr.string("constant") }, { types: [{ dtype: x.dtype, shape }] })
      .output;
  }

  /** With the axis as two; real parts need none. */
  #apart(x: Value, axis: readonly [Label, Label]): Labelled | null {
    const labels = [...this.#front, ...axis, ...this.#behind, ...this.#parts];
    const whole = [...single(this.#front), axis, ...single(this.#behind), ["given"]];
    const value = this.#nodes.regroup(x, whole, single(labels));
    return value && { value, labels };
  }

  /** The product with weights whose axes are `labels`: what it adds up has no place in `order`. */
  #product(x: Labelled, weights: Float64Array, labels: readonly Label[], order: readonly Label[]): Labelled | null {
    const own = order.filter((label) => labels.includes(label));
    const added = x.labels.filter((label) => labels.includes(label) && !own.includes(label));
    const tensor = this.#nodes.weights(weights, labels, [...own, ...added]);
    const matrix = this.context.constant(`${this.given.x.label}/circle`, tensor);
    return multiplyPair({ value: matrix, labels: [...own, ...added] }, x, order, new Set(order), this.#nodes);
  }
}
