/**
 *   Resize<linear or cubic>(x: [N,C,H,W])  =>  A * x * B     A: [height, H], B: [W, width], each row of A the weights of one row
 *
 * Both axes are weighed one after the other. ONNX Runtime computes each element of the result by itself: 1.2 ns of a linear one,
 * 50 ns of a cubic one; a product takes 0.3 ns and 0.008 for each place that it adds up (1.32, Zen 5, 1 thread). With
 * infinities or NaN in a plane, more of it is NaN.
 */
import { fromFront, type Node, Tensor } from "../../ir/index.js";
import { type ResizedAxis, resizeSource } from "../../ops/resize-source.js";
import { defineRewrite } from "../../rewrite/index.js";
import { isKnown } from "../../rewrite/match.js";

/** Places added up for an element of the result, on both axes, up to which a product is faster, here and on slower processors. */
const MOST_PLACES = { linear: 48, cubic: 1000 } as const;
/** Elements of one matrix: what it adds to the file. */
const MOST_WEIGHTS = { linear: 2 ** 16, cubic: 2 ** 18 } as const;

export const inlineResize = defineRewrite({
  name: "inline-resize",
  summary: "Interpolate between elements by two MatMuls, one for each axis",
  numerics: "rounding",
  roots: ["Resize"],
  minOpset: 11,
  onlyOnCpu: "its kernel for Resize interpolates one element after the other",
  rewrite(resize, { create, constant }) {
    const x = resize.inputs[0];
    const axes = x?.dtype === "f32" ? axesOf(resize) : null;
    const mode = modeOf(resize);
    if (!x || !axes || !mode) return null;
    const [down, along] = axes as [ResizedAxis, ResizedAxis];
    const first = (down.from * along.from) / down.to + down.from;
    const last = (down.from * along.from) / along.to + along.from;
    const places = axes.every(isResized) ? Math.min(first, last) : isResized(down) ? down.from : along.from;
    if (places > MOST_PLACES[mode]) return null;
    const weights = axes.map((axis) => (isResized(axis) ? weightsOf(resize, mode, axis) : null));
    if (weights.some((each) => each === undefined) || !weights.some((each) => each)) return null;
    if (axes.some(({ from, to }) => from * to > MOST_WEIGHTS[mode])) return null;
    const { label } = resize.output;
    const [rows, columns] = weights;
    const steps = [...(columns ? ["columns" as const] : []), ...(rows ? ["rows" as const] : [])];
    if (last < first) steps.reverse();
    let made = x;
    for (const step of steps) {
      const [matrix, dims] =
        step === "rows" ? [rows!, [down.to, down.from]] : [transposed(columns!, along), [along.from, along.to]];
      const factor = constant(`${label}/${step}`, Tensor.f32(dims, matrix));
      made = create("MatMul", step === "rows" ? [factor, made] : [made, factor]).output;
    }
    return made.producer;
  },
});

const isResized = ({ from, to, scale }: ResizedAxis): boolean => from !== to || scale !== 1;

/** Both axes of planes; null where sizes are not known, or others are resized too. */
function axesOf(resize: Node): readonly ResizedAxis[] | null {
  const [x, , scales, sizes] = resize.inputs;
  const [from, to] = [x!.shape, resize.output.shape];
  if (from?.length !== 4) return null;
  if (resize.string("keep_aspect_ratio_policy", "stretch") !== "stretch") return null;
  const given = scales?.constant?.elementCount ? scales.constant.toF32() : null;
  if (!given && !sizes?.constant) return null;
  const named = resize.ints("axes") ?? [0, 1, 2, 3];
  const scaleOf = (axis: number): number | null => {
    const at = named.findIndex((each) => fromFront(each, 4) === axis);
    if (at < 0) return 1;
    if (given) return given[at] ?? null;
    const [size, wanted] = [from[axis], sizes!.constant!.integers()?.[at]];
    return isKnown(size) && isKnown(wanted) ? wanted / size : null;
  };
  if (![0, 1].every((axis) => scaleOf(axis) === 1)) return null;
  const axes = [2, 3].map((axis): ResizedAxis | null => {
    const [size, scale] = [from[axis], scaleOf(axis)];
    if (!isKnown(size) || scale === null || size === 0) return null;
    const told = to?.[axis];
    // As the operator's definition has it where nothing says more.
    const wanted = isKnown(told) ? told : Math.floor(Math.fround(size * scale));
    return wanted > 0 ? { from: size, to: wanted, scale } : null;
  });
  return axes.every((axis) => axis !== null) ? axes : null;
}

function modeOf(resize: Node): "linear" | "cubic" | null {
  const mode = resize.string("mode", "nearest");
  if ((mode !== "linear" && mode !== "cubic") || resize.int("antialias", 0) !== 0) return null;
  return resize.int("exclude_outside", 0) === 0 ? mode : null;
}

/** What each place of the result has of those of the input: [to, from], by the formulas of the operator's definition; undefined where it follows others. */
function weightsOf(resize: Node, mode: "linear" | "cubic", axis: ResizedAxis): Float32Array | undefined {
  const { from, to } = axis;
  const weights = new Float64Array(to * from);
  const a = resize.float("cubic_coeff_a", -0.75);
  for (let place = 0; place < to; place++) {
    const at = resizeSource(resize, place, axis);
    if (at === null) return undefined;
    const source = mode === "linear" ? Math.min(from - 1, Math.max(0, at)) : at;
    const left = Math.floor(source);
    const share = source - left;
    const taps = mode === "linear" ? [1 - share, share] : cubic(share, a);
    const begin = mode === "linear" ? left : left - 1;
    // Beyond its sides the input goes on as it ends.
    for (const [i, tap] of taps.entries()) weights[place * from + Math.min(from - 1, Math.max(0, begin + i))]! += tap;
  }
  return Float32Array.from(weights);
}

/** Of four neighbours, the first of them before the one that is `share` away (Keys, "Cubic convolution interpolation", 1981). */
function cubic(share: number, a: number): readonly number[] {
  const near = (d: number): number => ((a + 2) * d - (a + 3)) * d * d + 1;
  const far = (d: number): number => ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return [far(share + 1), near(share), near(1 - share), far(2 - share)];
}

function transposed(rows: Float32Array, { from, to }: ResizedAxis): Float32Array {
  const columns = new Float32Array(rows.length);
  for (let r = 0; r < to; r++) for (let c = 0; c < from; c++) columns[c * to + r] = rows[r * from + c]!;
  return columns;
}
