/**
 * Which operators run on integers when Q/DQ pairs stand around them, per target.
 *
 * CPU rows: ONNX Runtime's CPU provider, versions 1.30 and 1.31, found by loading
 * small graphs at the highest optimization level and reading back the graph that it
 * saved. ConvTranspose as such, Sub, Div, Max, Tanh, Gelu, HardSwish, Erf, a Relu on its own,
 * LayerNormalization, Pad and linear Resize stay float there, a ReduceMean unless it is written as
 * GlobalAveragePool, and so does everything that is fed 16-bit activations. The rows hold for x86 and ARM alike; what
 * differs is how the products are added up.
 */
import { soleReader } from "../ir/index.js";
import { accelerators } from "./accelerator-kernels.js";
import { spreadOf } from "./depth-to-space.js";
import {
  compute,
  elementwise,
  type IntegerKernel,
  type IntegerTarget,
  type KernelTable,
  kernelsOf,
  passthrough,
} from "./integer-kernel.js";
import { avx2Rates, vnniRates } from "./kernel-rates.js";
import { kernelTimesBy } from "./kernel-times.js";
import { scalingOf } from "./scaling.js";
import { runsAsSubPixels } from "./sub-pixel.js";

const nearest: IntegerKernel = { ...passthrough, takes: (node) => node.string("mode", "nearest") === "nearest" };

/**
 * QLinearAveragePool with rounded-up windows and counted padding divides by whole windows, however far
 * they reach beyond the tensor; and it has no dilations, so that the model is refused.
 */
const average: IntegerKernel = {
  ...elementwise([0]),
  isWrong: (node) =>
    node.attributes.has("dilations") || (node.int("ceil_mode", 0) !== 0 && node.int("count_include_pad", 0) !== 0),
};

/**
 * The mean of each channel, whose kernel is that of GlobalAveragePool: over the last two of four axes, and nothing
 * behind it that a range would have to take care of.
 */
const channelMean: IntegerKernel = {
  ...elementwise([0]),
  takes: (node) => {
    const [data, axes] = node.inputs;
    const given = axes ? axes.constant?.integers() : node.ints("axes");
    const behind = soleReader(node.output);
    if (data?.shape?.length !== 4 || given?.length !== 2 || behind?.is("Relu") || behind?.is("Clip")) return false;
    return [2, 3].every((axis) => given.some((each) => each === axis || each === axis - 4));
  },
};

const cpu: KernelTable = {
  Conv: compute(true),
  // Written as a Conv.
  ConvTranspose: { ...compute(true), takes: runsAsSubPixels },
  MatMul: { ...compute(false), ofActivations: true },
  Gemm: compute(false),
  ...kernelsOf("Add Concat", elementwise()),
  Mul: { ...elementwise(), scales: true },
  Div: { ...elementwise(), scales: true, takes: (node) => scalingOf(node) !== null },
  ...kernelsOf("Sigmoid LeakyRelu Softmax GlobalAveragePool", elementwise([0])),
  AveragePool: average,
  ReduceMean: channelMean,
  Where: elementwise([1, 2]),
  ...kernelsOf("MaxPool ReduceMax Reshape Transpose Squeeze Unsqueeze Flatten Split Slice Gather Tile", passthrough),
  Resize: nearest,
  // Written as Transposes of integers.
  DepthToSpace: { ...passthrough, takes: (node) => spreadOf(node) !== null },
};

/** Operators whose constant weights can be stored as integers and widened by a DequantizeLinear. */
export const weightInputs: Readonly<Record<string, readonly number[]>> = {
  Conv: [1],
  ConvTranspose: [1],
  MatMul: [0, 1],
  Gemm: [0, 1],
  LSTM: [1, 2],
  GRU: [1, 2],
  RNN: [1, 2],
};

const onCpu = (
  name: string,
  title: string,
  saturatesPairs: boolean,
  architecture?: IntegerTarget["architecture"],
): IntegerTarget => ({
  name,
  title,
  ...(architecture && { architecture }),
  kernels: cpu,
  activations: "u8",
  bias: "i32",
  dynamic: true,
  weightLimit: 127,
  saturatesPairs,
  isMeasurable: true,
  sources: [],
});

const vnni: IntegerTarget = {
  ...onCpu("ort-cpu-vnni", "ONNX Runtime on x86 with VNNI", false, "x64"),
  times: kernelTimesBy(vnniRates),
};
const avx2: IntegerTarget = {
  ...onCpu("ort-cpu-avx2", "ONNX Runtime on x86 without VNNI", true, "x64"),
  times: kernelTimesBy(avx2Rates),
};
const arm = onCpu("ort-cpu-arm64", "ONNX Runtime on ARM without dot product", false, "arm64");
const armDot = onCpu("ort-cpu-arm64-dot", "ONNX Runtime on ARM with dot product", false, "arm64");
const unknown = onCpu("ort-cpu", "ONNX Runtime on the CPU", false);

const named: ReadonlyMap<string, IntegerTarget> = new Map(
  [vnni, avx2, arm, armDot, ...accelerators].map((target) => [target.name, target]),
);

/** What the processor is, as far as its flags, which environment.ts names, tell. */
function cpuTarget(architecture: string, flags: readonly string[]): IntegerTarget {
  if (flags.length === 0) return unknown;
  const has = (...wanted: readonly string[]): boolean => flags.some((flag) => wanted.includes(flag));
  if (architecture === "x64") return has("avx512_vnni", "avx_vnni", "amx_int8") ? vnni : avx2;
  return architecture === "arm64" ? (has("asimddp", "i8mm") ? armDot : arm) : unknown;
}

/** What is known of a provider's integer kernels. Where nothing is, what the CPU has is what may be. */
export const integerTarget = (provider: string, architecture: string, flags: readonly string[]): IntegerTarget =>
  named.get(provider) ?? cpuTarget(architecture, flags);

/** By a name as `--target` takes it, its release left aside; the CPU of this machine for `ort-cpu`, and where none is named. */
export function integerTargetNamed(name: string | undefined, here: IntegerTarget): IntegerTarget {
  const [family = ""] = name?.split("@") ?? [];
  return named.get(family) ?? here;
}
