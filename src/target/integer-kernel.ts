/** What can be known of an operator's integer kernel, and of a place where models run on integers. */
import type { Node } from "../ir/index.js";
import type { KernelTimes } from "./kernel-times.js";
import { scalingOf } from "./scaling.js";

export interface IntegerKernel {
  /**
   * - `compute`: a product with constant weights, the reason to quantize at all
   * - `elementwise`: has an integer kernel of its own; worth it between compute nodes
   * - `passthrough`: moves elements; inputs and outputs must share scale and zero point
   */
  readonly kind: "compute" | "elementwise" | "passthrough";
  /** Whether the kernel exists only when the output is quantized too. */
  readonly needsQuantizedOutput: boolean;
  /** Inputs that carry activations. */
  readonly activationInputs: "all" | readonly number[];
  /** Of `compute`: whether there is a kernel for two factors that are both activations. */
  readonly ofActivations?: true;
  /** Whether a product with a number (scaling.ts), where the node is one, is left to the scale of its integers. */
  readonly scales?: true;
  /** Whether this form of the operator has the kernel; absent: every form has. */
  readonly takes?: (node: Node) => boolean;
  /**
   * Forms for which the runtime uses the kernel and should not: it computes something else, or the model does
   * not load. They are float, and no pairs may stand on both sides of them.
   */
  readonly isWrong?: (node: Node) => boolean;
}

export type KernelTable = Readonly<Record<string, IntegerKernel>>;

/** Where a model is to run on integers, and what that place asks of them. */
export interface IntegerTarget {
  /** As `--target` names it. */
  readonly name: string;
  readonly title: string;
  readonly kernels: KernelTable;
  /** `i8` is symmetric: zero points are 0. */
  readonly activations: "u8" | "i8";
  /** Whether biases are integers at the product of both scales, or stay float. */
  readonly bias: "i32" | "float";
  /** Whether it runs MatMulInteger behind DynamicQuantizeLinear on integers. */
  readonly dynamic: boolean;
  /** Whether operators may be written that only ONNX Runtime has: the user has to ask for them. */
  readonly runtimeSpecific?: boolean;
  /** Whether no weight may be added for speed: the user asks for the smallest file. */
  readonly isForSize?: boolean;
  /** Largest magnitude of a quantized weight. */
  readonly weightLimit: number;
  /** Whether sums of two products saturate at 16 bits: x86 without VNNI. */
  readonly saturatesPairs: boolean;
  /** Whether ONNX Runtime on the CPU is what it runs in, so that speed measured here says something. */
  readonly isMeasurable: boolean;
  /** Of the processors that it is, in Node's word: times taken on others are not its own. Absent: of none in particular. */
  readonly architecture?: "x64" | "arm64";
  /** What its kernels take, where that is known well enough to place integers by; absent: a profile has to tell. */
  readonly times?: KernelTimes;
  /** The documents that the table follows; none where it was found by running models. */
  readonly sources: readonly string[];
}

export const compute = (needsQuantizedOutput: boolean): IntegerKernel => ({
  kind: "compute",
  needsQuantizedOutput,
  activationInputs: [0],
});
/** Of all inputs, or of those at some places. */
export const elementwise = (activationInputs: "all" | readonly number[] = "all"): IntegerKernel => ({
  kind: "elementwise",
  needsQuantizedOutput: true,
  activationInputs,
});
export const passthrough: IntegerKernel = { kind: "passthrough", needsQuantizedOutput: true, activationInputs: [0] };

/** The same kernel for several operators, named between spaces. */
export const kernelsOf = (names: string, kernel: IntegerKernel): KernelTable =>
  Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, kernel]),
  );

/** Places of a node's inputs that carry activations of its kernel. */
export const activationSlots = ({ inputs }: Node, { activationInputs }: IntegerKernel): readonly number[] =>
  activationInputs === "all" ? inputs.map((_, index) => index) : activationInputs;

/** The kernel for a node as it is; a product of two activations is no reason to quantize, but may lie between. */
export function kernelFor({ kernels }: IntegerTarget, node: Node): IntegerKernel | null {
  if (node.domain !== "" || !Object.hasOwn(kernels, node.op)) return null;
  const kernel = kernels[node.op]!;
  if (kernel.takes?.(node) === false || kernel.isWrong?.(node)) return null;
  const scaling = kernel.scales ? scalingOf(node) : null;
  if (scaling) return { ...elementwise([scaling.slot]), scales: true };
  const isBetween = kernel.ofActivations && node.inputs.every((value) => value && !value.constant);
  return isBetween ? elementwise() : kernel;
}

/** Whether the runtime would use a kernel that is wrong for the node. */
export const isWrongKernel = ({ kernels }: IntegerTarget, node: Node): boolean =>
  node.domain === "" && Object.hasOwn(kernels, node.op) && (kernels[node.op]!.isWrong?.(node) ?? false);
