/**
 * Makes more of few samples: images are moved by a few pixels, and every other one is also turned, slanted and scaled a little.
 * Student and teacher both see the result, so nothing is claimed about what it shows. How each image of a batch is
 * moved comes with each step, as an input. Mixing two samples besides was tried and dropped: a net that was fitted to samples
 * as they come goes away from them to serve the mixtures.
 */
import type { Random } from "../../base/random.js";
import { attr, type Graph, Tensor, type Value } from "../../ir/index.js";
import { dimsOf, type Formula } from "./formula.js";

/** Name of what a step is told, besides samples: for each image the two rows of an affine map, see `movesOf`. */
export const MOVES = "recover/moves";

export interface Augmentation {
  /** By input: what the models see in its place. */
  readonly values: ReadonlyMap<Value, Value>;
  /** Null where no input is an image. */
  readonly images: ImageSizes | null;
}

/** Of one batch. */
export interface ImageSizes {
  readonly count: number;
  readonly height: number;
  readonly width: number;
}

/** Share of an image's side by which it is moved at most. */
const REACH = 0.07;
/** How far its edges go besides where it is turned, slanted or scaled: a share of half its shorter side. */
const BEND = 0.15;
const LEAST_SIDE = 8;
/** From here on the operator calls its modes otherwise. */
const RENAMED_OPSET = 20;

/** Only where every input is float32: what identifiers and masks say of an image would no longer hold. */
export function augment(graph: Graph, inputs: readonly Value[], f: Formula, opset: number): Augmentation {
  const isFloat = inputs.every(({ dtype, shape }) => dtype === "f32" && shape?.length);
  const images = isFloat ? sizesOf(inputs) : null;
  if (!images) return { values: new Map(), images };
  const { count, height, width } = images;
  const moves = graph.addInput(MOVES, { dtype: "f32", shape: [count, 2, 3] });
  const seen = f.op("MatMul", [moves, f.tensor(centres(height, width))]);
  const grid = f.reshape(f.transpose(seen, [0, 2, 1]), [count, height, width, 2]);
  const mode = attr.string(opset < RENAMED_OPSET ? "bilinear" : "linear");
  const moved = inputs
    .filter(isImage)
    .map((input): [Value, Value] => [
      input,
      f.op("GridSample", [input, grid], { mode, padding_mode: attr.string("border") }),
    ]);
  return { values: new Map(moved), images };
}

/** [images, 2, 3]: which place of the image each place of the result shows, both from -1 to 1 along x and y. */
export function movesOf({ count, height, width }: ImageSizes, random: Random): Tensor {
  const shorter = Math.min(height, width);
  const [along, across] = [shorter / width, shorter / height];
  const bend = (most: number): number => (2 * random.next() - 1) * BEND * most;
  const shift = (side: number): number => {
    const most = Math.max(1, Math.round(side * REACH));
    return (2 * (random.below(2 * most + 1) - most)) / side;
  };
  const rows = Array.from({ length: count }, (_, i): number[] => {
    const [x, y] = [shift(width), shift(height)];
    // Whole pixels blur nothing; half of the images stay sharp.
    if (i % 2 === 0) return [1, 0, x, 0, 1, y];
    return [1 + bend(along), bend(along), x, bend(across), 1 + bend(across), y];
  });
  return Tensor.f32([count, 2, 3], Float32Array.from(rows.flat()));
}

const isImage = (input: Value): boolean => {
  const dims = dimsOf(input);
  return dims.length === 4 && dims.slice(2).every((side) => side >= LEAST_SIDE);
};

/** All images are moved alike, so they must be of one size. */
function sizesOf(inputs: readonly Value[]): ImageSizes | null {
  const sizes = inputs.filter(isImage).map((input) => dimsOf(input));
  const [first] = sizes;
  if (!first || sizes.some((size) => [0, 2, 3].some((axis) => size[axis] !== first[axis]))) return null;
  return { count: first[0]!, height: first[2]!, width: first[3]! };
}

/** The middle of every pixel, [3, height * width]: x and y from -1 to 1, and ones. */
function centres(height: number, width: number): Tensor {
  const places = height * width;
  const values = new Float32Array(3 * places).fill(1);
  for (let at = 0; at < places; at++) {
    values[at] = (2 * (at % width) + 1) / width - 1;
    values[places + at] = (2 * Math.floor(at / width) + 1) / height - 1;
  }
  return Tensor.f32([3, places], values);
}
