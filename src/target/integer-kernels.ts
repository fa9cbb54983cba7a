/**
 * Which operators run on integers when Q/DQ pairs stand around them, per target.
 *
 * CPU rows: ONNX Runtime's CPU provider, versions 1.30 and 1.31, found by loading
 * small graphs at the highest optimization level and reading back the graph that it
 * saved. ConvTranspose, Sub, Div, Tanh, Gelu, HardSwish, Erf, a Relu on its own,
 * ReduceMean, LayerNormalization and Pad stay float there, and so does everything
 * that is fed 16-bit activations.
 */

export interface IntegerKernel {
  /**
   * - `compute`: a product with constant weights, the reason to quantize at all
   * - `elementwise`: has an integer kernel of its own; worth it between compute nodes
   * - `passthrough`: moves elements; input and output must share scale and zero point
   */
  readonly kind: "compute" | "elementwise" | "passthrough";
  /** Whether the kernel exists only when the output is quantized too. */
  readonly needsQuantizedOutput: boolean;
  /** Inputs that carry activations. */
  readonly activationInputs: "first" | "all";
}

const compute = (needsQuantizedOutput: boolean): IntegerKernel => ({
  kind: "compute",
  needsQuantizedOutput,
  activationInputs: "first",
});
const elementwise: IntegerKernel = { kind: "elementwise", needsQuantizedOutput: true, activationInputs: "all" };
const passthrough: IntegerKernel = { kind: "passthrough", needsQuantizedOutput: true, activationInputs: "first" };

const cpu: Readonly<Record<string, IntegerKernel>> = {
  Conv: compute(true),
  MatMul: compute(false),
  Gemm: compute(false),
  Add: elementwise,
  Mul: elementwise,
  Concat: elementwise,
  Sigmoid: { ...elementwise, activationInputs: "first" },
  LeakyRelu: { ...elementwise, activationInputs: "first" },
  AveragePool: { ...elementwise, activationInputs: "first" },
  GlobalAveragePool: { ...elementwise, activationInputs: "first" },
  MaxPool: passthrough,
  Reshape: passthrough,
  Transpose: passthrough,
  Squeeze: passthrough,
  Unsqueeze: passthrough,
  Flatten: passthrough,
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

export interface IntegerTarget {
  readonly kernels: Readonly<Record<string, IntegerKernel>>;
  /**
   * Largest magnitude of a quantized weight. 127, or 63 where the kernel adds pairs of
   * u8 x s8 products in 16 bits and saturates: x86 without VNNI.
   */
  readonly weightLimit: 127 | 63;
}

/** What is known of a provider's integer kernels. `flags` are the CPU's, as environment.ts names them. */
export function integerTarget(provider: string, architecture: string, flags: readonly string[]): IntegerTarget {
  const hasVnni = flags.some((flag) => flag === "avx512_vnni" || flag === "avx_vnni" || flag === "amx_int8");
  const saturates = provider === "cpu" && architecture === "x64" && flags.length > 0 && !hasVnni;
  return { kernels: cpu, weightLimit: saturates ? 63 : 127 };
}
