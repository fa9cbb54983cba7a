import { attr, elementCount, Tensor } from "../../../ir/index.js";
import { dimsOf, NoGradient } from "../formula.js";
import type { GradientRule } from "../gradient-rule.js";
import { puttingBack, type Windows, windowsOf } from "../window.js";

/** Every element of a window gets its share: a ConvTranspose with ones. */
const average: GradientRule = (site) => {
  const { f, dy, node } = site;
  const [x, out] = [site.dims(0), dimsOf(site.y)];
  const kernel = node.ints("kernel_shape");
  if (!kernel) throw new NoGradient("it has no kernel_shape");
  const windows = windowsOf(node, kernel, x.slice(2), out.slice(2));
  const counts = node.int("count_include_pad", 0) === 1 ? null : countsOf(windows, x.slice(2), out.slice(2));
  const shared = counts
    ? f.div(dy, f.tensor(Tensor.f32([1, 1, ...out.slice(2)], counts)))
    : f.times(dy, 1 / elementCount(kernel));
  const channels = x[1]!;
  const ones = f.tensor(
    Tensor.f32([channels, 1, ...kernel], new Float32Array(channels * elementCount(kernel)).fill(1)),
  );
  return [f.op("ConvTranspose", [shared, ones], puttingBack(windows, channels, x.slice(2), out.slice(2)))];
};

/** How many elements that are no padding each window holds. */
function countsOf(
  { kernel, strides, dilations, before }: Windows,
  input: readonly number[],
  output: readonly number[],
): Float32Array {
  const along = output.map((windows, axis) =>
    Array.from({ length: windows }, (_, window) => {
      const start = window * strides[axis]! - before[axis]!;
      const places = Array.from({ length: kernel[axis]! }, (__, k) => start + k * dilations[axis]!);
      return places.filter((place) => place >= 0 && place < input[axis]!).length;
    }),
  );
  return Float32Array.from(along.reduce((all, counts) => all.flatMap((a) => counts.map((b) => a * b)), [1]));
}

/** The largest element of a window gets all; where it lies, the operator says itself. */
const maximum: GradientRule = (site) => {
  const { f, dy, node } = site;
  if (node.int("storage_order", 0) !== 0) throw new NoGradient("its storage_order is not 0");
  const dims = site.dims(0);
  const again = f.node("MaxPool", [site.input(0)], Object.fromEntries(node.attributes), 2);
  const total = elementCount(dims);
  const scattered = f.op(
    "ScatterElements",
    [f.zeros([total]), f.reshape(again.outputs[1]!, [-1]), f.reshape(dy, [-1])],
    { axis: attr.int(0), reduction: attr.string("add") },
  );
  return [f.reshape(scattered, dims)];
};

export const pooling: Readonly<Record<string, GradientRule>> = { AveragePool: average, MaxPool: maximum };
