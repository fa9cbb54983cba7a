/**
 * Makes more of few samples: images are moved by a few pixels, and two samples are mixed. Student and teacher both see
 * the result, so nothing is claimed about what it shows. How far and how much comes with each step, as inputs.
 */
import { attr, type Graph, type Value } from "../../ir/index.js";
import { dimsOf, type Formula } from "./formula.js";

/** Names of what a step is told, besides samples. */
export const augmentInputs = { shift: "recover/shift", mix: "recover/mix", order: "recover/order" } as const;

export interface Augmentation {
  /** By input: what the models see in its place. */
  readonly values: ReadonlyMap<Value, Value>;
  /** Pixels by which images are moved at most, along height and width; null where no input is an image. */
  readonly reach: readonly [number, number] | null;
  readonly isMixed: boolean;
}

/** Share of an image's side by which it is moved at most. */
const REACH = 0.07;
const LEAST_SIDE = 8;

/** Only where every input is float32: identifiers and masks mean nothing in between. */
export function augment(graph: Graph, inputs: readonly Value[], f: Formula): Augmentation {
  const none: Augmentation = { values: new Map(), reach: null, isMixed: false };
  if (inputs.some(({ dtype, shape }) => dtype !== "f32" || !shape?.length)) return none;
  const batch = dimsOf(inputs[0]!)[0]!;
  const reach = reachOf(inputs);
  const isMixed = batch > 1;
  if (!reach && !isMixed) return none;
  const shift = reach && graph.addInput(augmentInputs.shift, { dtype: "i64", shape: [2] });
  const mix = isMixed ? graph.addInput(augmentInputs.mix, { dtype: "f32", shape: [] }) : null;
  const order = isMixed ? graph.addInput(augmentInputs.order, { dtype: "i64", shape: [batch] }) : null;
  const values = inputs.map((input): [Value, Value] => {
    const moved = shift && isImage(input) ? movedBy(f, input, shift, reach!) : input;
    const seen = mix ? mixed(f, moved, mix, order!) : moved;
    // Where images are cut is told at run time only: their sizes would be unknown from here on.
    return [input, f.reshape(seen, dimsOf(input))];
  });
  return { values: new Map(values), reach, isMixed };
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
  return f.op("Slice", [padded, shift, ends, f.integers([2, 3])]);
}

/** x mix + x[order] (1 - mix) */
function mixed(f: Formula, x: Value, mix: Value, order: Value): Value {
  const other = f.op("Gather", [x, order], { axis: attr.int(0) });
  return f.add(f.mul(x, mix), f.mul(other, f.sub(f.scalar(1), mix)));
}
