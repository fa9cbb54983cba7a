/**
 * Which maps lie with their channels first although integers read them. ONNX Runtime (1.30) gives integer Convs theirs last, with
 * Transposes around, and its optimizer of Transposes moves these on through operators that compute or move elements, integer or
 * float; but not where such a map meets one that lies the other way.
 */
import type { Node, Value } from "../ir/index.js";
import { windowMeanOf } from "../target/window-mean.js";

const keeping = new Set(
  "Add AveragePool Concat Div GlobalAveragePool LeakyRelu MaxPool Mul Resize Sigmoid Slice Split".split(" "),
);

/** Whether a node of integers hands its channels on last where some of what it reads has them so. */
export const keepsChannelsLast = ({ op }: Node): boolean => keeping.has(op);

/** Float kernels that have their channels first, or in blocks, whatever is in front. */
const laidOut = /^(AveragePool|BatchNormalization|Conv|ConvTranspose|InstanceNormalization|MaxPool|Pad|Resize)$/;
const elementwise = /^(Add|Clip|Div|Elu|Erf|Gelu|HardSigmoid|HardSwish|LeakyRelu|Max|Min|Mul|Relu|Sigmoid|Sub|Tanh)$/;

/** Gathers the values of which that is certain: nodes in the order of the graph. */
export class ChannelsFirst {
  readonly #values = new Set<Value>();

  /** @param isInteger whether an integer kernel runs the node */
  add(node: Node, isInteger: boolean): void {
    // Integer Convs, and an AveragePool that is written as one, have theirs last whatever they read.
    const isHandedOn = isInteger ? keepsChannelsLast(node) && windowMeanOf(node) === null : elementwise.test(node.op);
    const isFirst = isHandedOn ? node.inputs.some((value) => this.has(value)) : !isInteger && laidOut.test(node.op);
    if (node.domain === "" && isFirst) for (const value of node.outputs) if (value) this.#values.add(value);
  }

  has(value: Value | null | undefined): boolean {
    if (!value || value.constant) return false;
    return isMap(value) && (value.producer ? this.#values.has(value) : true);
  }
}

/** One number for each channel lies either way. */
const isMap = ({ shape }: Value): boolean =>
  shape === null || (shape.length > 2 && shape.slice(2).some((dim) => dim !== 1));
