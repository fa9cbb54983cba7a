/**
 * Which integers lie with their channels last: ONNX Runtime (1.30) gives integer Convs theirs so, with Transposes around, and its
 * optimizer of Transposes moves these on through operators that keep them so.
 */
import type { Node, Value } from "../ir/index.js";

const keeping = new Set(
  "Add AveragePool Concat Div GlobalAveragePool LeakyRelu MaxPool Mul Resize Sigmoid Slice Split".split(" "),
);

/** Whether a node of integers hands its channels on last where some of what it reads has them so; where one of several has, most often. */
export const keepsChannelsLast = ({ op }: Node): boolean => keeping.has(op);

/** Gathers the values that have them last for certain: nodes in the order of the graph. */
export class ChannelsLast {
  readonly #values = new Set<Value>();

  /** @param isInteger whether an integer kernel runs the node */
  add(node: Node, isInteger: boolean): void {
    if (isInteger && (/^Conv(Transpose)?$/.test(node.op) || (keepsChannelsLast(node) && this.#allOf(node))))
      this.#mark(node);
    // A kernel in front computes it.
    else if (!isInteger && (node.is("Relu") || node.is("Clip")) && this.has(node.inputs[0])) this.#mark(node);
  }

  has(value: Value | null | undefined): boolean {
    return value !== null && value !== undefined && this.#values.has(value);
  }

  #allOf({ inputs }: Node): boolean {
    return inputs.every((value) => value === null || value.constant !== null || this.#values.has(value));
  }

  #mark({ outputs }: Node): void {
    for (const value of outputs) if (value) this.#values.add(value);
  }
}
