/**
 * Makes more of few samples: images are moved by a few pixels. Student and teacher both see the result, so nothing is
 * claimed about what it shows. How far comes with each step, as an input. Mixing two samples besides was tried and dropped:
 * a net that was fitted to samples as they come goes away from them to serve the mixtures.
 */
import { attr, type Graph, type Value } from "../../ir/index.js";
import { dimsOf, type Formula } from "./formula.js";

/** Name of what a step is told, besides samples. */
export const SHIFT = "recover/shift";

export interface Augmentation {
  /** By input: what the models see in its place. */
  readonly values: ReadonlyMap<Value, Value>;
  /** Pixels by which images are moved at most, along height and width; null where no input is an image. */
  readonly reach: readonly [number, number] | null;
}

/** Share of an image's side by which it is moved at most. */
const REACH = 0.07;
const LEAST_SIDE = 8;

/** Only where every input is float32: what identifiers and masks say of an image would no longer hold. */
export function augment(graph: Graph, inputs: readonly Value[], f: Formula): Augmentation {
  const isFloat = inputs.every(({ dtype, shape }) => dtype === "f32" && shape?.length);
  const reach = isFloat ? reachOf(inputs) : null;
  if (!reach) return { values: new Map(), reach };
  const shift = graph.addInput(SHIFT, { dtype: "i64", shape: [2] });
  const moved = inputs.filter(isImage).map((input): [Value, Value] => [input, movedBy(f, input, shift, reach)]);
  return { values: new Map(moved), reach };
}

const isImage = (input: Value): boolean => {
  const dims = dimsOf(input);
  return dims.length === 4 && dims.slice(2).every((side) => side >= LEAST_SIDE);
};

/** All images are moved alike, so they must be of one size. */
function reachOf(inputs: readonly Value[]): readonly [number, number] | null {
  const sizes = inputs.filter(isImage).map((input) => dimsOf(input).slice(2));
  const [first] = sizes;
  if (!first || sizes.some((size) => size.some((side, i) => side !== first[i]))) return null;
  return [reachAlong(first[0]!), reachAlong(first[1]!)];
}

const reachAlong = (side: number): number => Math.max(1, Math.round(side * REACH));

/** Padded by its own edge, then cut out again at `shift`, which is `reach` where nothing moves. */
function movedBy(f: Formula, image: Value, shift: Value, [height, width]: readonly [number, number]): Value {
  const pads = f.integers([0, 0, height, width, 0, 0, height, width]);
  const padded = f.op("Pad", [image, pads], { mode: attr.string("edge") });
  const ends = f.add(shift, f.integers(dimsOf(image).slice(2)));
  const cut = f.op("Slice", [padded, shift, ends, f.integers([2, 3])]);
  // Where it is cut is told at run time only: its sizes would be unknown from here on.
  return f.reshape(cut, dimsOf(image));
}
