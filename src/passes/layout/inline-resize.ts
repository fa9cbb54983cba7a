/**
 *   Resize<linear or cubic>(x: [N,C,H,W])  =>  A * x * B     A: [height, H], B: [W, width], each row of A the weights of one row
 *
 * Both axes are weighed one after the other. ONNX Runtime computes each element of the result by itself: 1.2 ns of a linear one,
 * 50 ns of a cubic one; a product takes 0.3 ns and 0.008 for each place that it adds up (1.32, Zen 5, 1 thread). With
 * infinities or NaN in a plane, more of it is NaN.
 */
import { type Node, Tensor, type Value } from "../../ir/index.js";
import type { ResizedAxis } from "../../ops/resize-source.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";
import { resizedTo, resizeRatios } from "../../target/resize-ratios.js";
import { interpolationOf, resizeWeights } from "./resize-weights.js";

/** Places added up for an element of the result, on both axes, up to which a product is faster, here and on slower processors. */
const MOST_PLACES = { linear: 48, cubic: 1000 } as const;
/** Elements of one matrix: what it adds to the file. */
const MOST_WEIGHTS = { linear: 2 ** 15, cubic: 2 ** 18 } as const;
/** Of the result, in one plane: a product of less takes longer to begin with. */
const LEAST_PLANE = 100;

export const inlineResize = defineRewrite({
  name: "inline-resize",
  summary: "Interpolate between elements by two MatMuls, one for each axis",
  numerics: "rounding",
  roots: ["Resize"],
  minOpset: 11,
  onlyOnCpu: "its kernel for Resize interpolates one element after the other",
  rewrite(resize, { create, constant }) {
    const x = resize.inputs[0];
    const axes = x?.dtype === "f32" ? planesOf(resize) : null;
    const mode = interpolationOf(resize);
    if (!x || !axes || !mode || axes.every(({ from, to }) => from === to)) return null;
    const [down, along] = axes;
    const rowsFirst = (down.from * along.from) / along.to + along.from;
    const columnsFirst = (down.from * along.from) / down.to + down.from;
    const both = Math.min(rowsFirst, columnsFirst);
    const places = axes.every(isResized) ? both : isResized(down) ? down.from : along.from;
    if (places > MOST_PLACES[mode] || (mode === "linear" && hasFastKernel(resize, axes))) return null;
    if (axes.some((axis) => isResized(axis) && axis.from * axis.to > MOST_WEIGHTS[mode])) return null;
    const { label } = resize.output;
    const rows = (value: Value): Value => {
      if (!isResized(down)) return value;
      const matrix = Tensor.f32([down.to, down.from], resizeWeights(resize, mode, down));
      return create("MatMul", [constant(`${label}/rows`, matrix), value]).output;
    };
    const columns = (value: Value): Value => {
      if (!isResized(along)) return value;
      const matrix = Tensor.f32([along.from, along.to], transposed(resizeWeights(resize, mode, along), along));
      return create("MatMul", [value, constant(`${label}/columns`, matrix)]).output;
    };
    return rowsFirst < columnsFirst ? columns(rows(x)) : rows(columns(x));
  },
});

/** Forms for which two products are no faster. */
function hasFastKernel(resize: Node, axes: readonly [ResizedAxis, ResizedAxis]): boolean {
  const [down, along] = axes;
  const isSmaller = axes.every(isResized) && down.to * along.to < down.from * along.from;
  if (down.to * along.to < LEAST_PLANE || isSmaller) return true;
  const x = resize.inputs[0]!;
  // The runtime moves Transposes around it away, and interpolates whole rows of channels.
  if (x.producer?.is("Transpose")) return true;
  const isWhole = axes.every(({ from, to }) => to % from === 0);
  const coordinates = resize.string("coordinate_transformation_mode", "half_pixel");
  return isWhole && coordinates !== "pytorch_half_pixel" && isInBlocks(x, MOST_STEPS);
}

/** Operators that keep channels in blocks behind a Conv, as its float kernel has them; a Resize of whole ratios is one of them. */
const inBlocks =
  /^(Add|AveragePool|Clip|Concat|HardSigmoid|HardSwish|LeakyRelu|MaxPool|Mul|Relu|Resize|Sigmoid|Sum|Tanh)$/;
const MOST_STEPS = 4;

function isInBlocks({ producer }: Value, steps: number): boolean {
  if (producer?.domain !== "") return false;
  if (producer.op === "Conv") return true;
  const [first] = producer.inputs.filter((value) => value && !value.constant);
  return steps > 0 && inBlocks.test(producer.op) && first != null && isInBlocks(first, steps - 1);
}

const isResized = ({ from, to, scale }: ResizedAxis): boolean => from !== to || scale !== 1;

/** Both axes of planes; null where sizes are not known, or others are resized too. */
function planesOf(resize: Node): readonly [ResizedAxis, ResizedAxis] | null {
  const [from, to] = [resize.inputs[0]!.shape, resize.output.shape];
  const ratios = resizeRatios(resize);
  if (from?.length !== 4 || !ratios || ratios[0] !== 1 || ratios[1] !== 1) return null;
  const [down, along] = [2, 3].map((axis): ResizedAxis | null => {
    const [size, told, scale] = [from[axis], to?.[axis], ratios[axis]!];
    if (!isKnown(size)) return null;
    const wanted = resize.inputs[3] ? Math.round(size * scale) : resizedTo(size, scale);
    // Where shape inference comes to another size, one of them is wrong.
    const isSure = !isKnown(told) || told === wanted;
    return isSure && size > 0 && wanted > 0 ? { from: size, to: wanted, scale } : null;
  });
  return down && along ? [down, along] : null;
}

function transposed(rows: Float32Array, { from, to }: ResizedAxis): Float32Array {
  const columns = new Float32Array(rows.length);
  for (let r = 0; r < to; r++) for (let c = 0; c < from; c++) columns[c * to + r] = rows[r * from + c]!;
  return columns;
}
