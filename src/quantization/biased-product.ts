/**
 * A product of rows, and what is added to each of them:
 *
 *   Add(MatMul(x: [...rows, K], W: [K, N]), b: [N])  =>  Reshape(Gemm(Reshape(x), W, b))     where all sizes of x are known
 *
 * ONNX Runtime writes the two as a Gemm by itself (MatMulAddFusion), with its bias in float, and has no integer kernel for that: in every
 * run it widens the weights and multiplies floats. With the bias among the integers both are one integer kernel.
 */
import { elementCount, type Node, soleReader, Tensor, type TensorType, type Value } from "../ir/index.js";
import { activationSlots, compute, passthrough } from "../target/integer-kernel.js";
import { behindNode, type PlannedNode } from "./plan-static.js";

export interface BiasedProducts {
  readonly nodes: readonly PlannedNode[];
  /** By the label of a matrix, that of the value whose elements it has: what is known of one holds for both. */
  readonly matrices: ReadonlyMap<string, string>;
}

/** Writes such products among nodes that are to be integers as Gemms, which stand in their place then, and in that of the sums. */
export function biasedProducts(planned: readonly PlannedNode[]): BiasedProducts {
  const all = new Map(planned.map((each) => [each.node, each]));
  const writer = new GemmWriter();
  const summed = new Set<Node>();
  const nodes = planned.flatMap((each): readonly PlannedNode[] => {
    if (summed.has(each.node)) return [];
    const form = biasedForm(each.node);
    const sum = form && all.get(form.sum);
    // Otherwise its result is wanted as integers, and the sum in float.
    if (!form || each.outputs.length > (sum ? 1 : 0)) return [each];
    summed.add(form.sum);
    return writer.gemm(form, sum?.outputs[0] ?? readAsIntegers(form.sum, all));
  });
  return { nodes: nodes.filter(({ node }) => node.attached), matrices: writer.labels };
}

/** What a sum makes, or an activation behind it that the kernel absorbs, where only nodes among integers read it. */
function readAsIntegers(sum: Node, planned: ReadonlyMap<Node, PlannedNode>): Value | null {
  const [value] = behindNode(sum, compute(false));
  const isRead = value!.uses.every((use) => {
    const reader = use.kind === "input" ? planned.get(use.node) : undefined;
    return use.kind === "input" && reader && activationSlots(reader.node, reader.kernel).includes(use.index);
  });
  return isRead ? value! : null;
}

interface BiasedForm {
  readonly product: Node;
  readonly sum: Node;
  readonly bias: Tensor;
  /** Of what the product reads: two at least. */
  readonly sizes: readonly number[];
}

function biasedForm(product: Node): BiasedForm | null {
  const [input, weight] = product.inputs;
  const dims = weight?.constant?.dims;
  const shape = input?.shape;
  if (!product.is("MatMul") || !shape || shape.length < 2 || dims?.length !== 2) return null;
  const sizes = shape.filter((size) => typeof size === "number");
  const sum = soleReader(product.output);
  if (sizes.length < shape.length || !sum?.is("Add")) return null;
  const bias = sum.inputs.find((value) => value !== product.output)?.constant;
  const isRow = bias?.dtype === "f32" && bias.elementCount === dims[1] && bias.dims.at(-1) === dims[1];
  return isRow && bias.dims.length <= sizes.length ? { product, sum, bias, sizes } : null;
}

const f32 = (shape: readonly number[]): TensorType => ({ dtype: "f32", shape });

class GemmWriter {
  readonly labels = new Map<string, string>();
  readonly #matrices = new Map<Value, Value>();

  /** `quantized`: the result of the sum, or of the activation behind it, where integers are read. The last node's result has its label. */
  gemm({ product, sum, bias, sizes }: BiasedForm, quantized: Value | null): readonly PlannedNode[] {
    const { graph, name } = product;
    const [input, weight] = product.inputs as [Value, Value];
    const columns = bias.elementCount;
    const outer = sizes.slice(0, -1);
    const isMatrix = outer.length === 1;
    const [rows, read] = isMatrix ? [input, []] : this.#matrixOf(input, sizes, product);
    const { label, type } = sum.output;
    const row = graph.addConstant(`${label}/bias`, Tensor.f32([columns], bias.f32()));
    const gemm = graph.addNode(
      {
        op: "Gemm",
        name,
        inputs: [rows, weight, row],
        outputs: [{ label, type: isMatrix ? type : f32([elementCount(outer), columns]) }],
        provenance: [...product.provenance, ...sum.provenance],
      },
      sum,
    );
    graph.replaceUses(sum.output, gemm.output);
    graph.removeNode(sum);
    graph.removeNode(product);
    // What a product before this was reshaped to, and nobody else reads.
    if (input.useCount === 0) graph.removeNode(input.producer!);
    // An activation that the kernel absorbs comes before any Reshape.
    const made = quantized && quantized !== sum.output ? quantized : gemm.output;
    const planned: PlannedNode[] = [...read, { node: gemm, kernel: compute(false), outputs: quantized ? [made] : [] }];
    if (isMatrix) return planned;
    const back = this.#reshapedBack(made, [...outer, columns]);
    if (quantized) planned.push({ node: back, kernel: passthrough, outputs: [back.output] });
    return planned;
  }

  /** The rows of a value, once for all products, with the node that makes them where it is new. */
  #matrixOf(value: Value, sizes: readonly number[], before: Node): readonly [Value, readonly PlannedNode[]] {
    const known = this.#matrices.get(value);
    if (known) return [known, []];
    const depth = sizes.at(-1)!;
    const label = `${value.label}/rows`;
    const node = reshape(value, [elementCount(sizes.slice(0, -1)), depth], label, before);
    this.#matrices.set(value, node.output);
    this.labels.set(label, value.label);
    return [node.output, [{ node, kernel: passthrough, outputs: [node.output] }]];
  }

  /** Behind a matrix, whose label goes to what has the sizes that others read. */
  #reshapedBack(matrix: Value, sizes: readonly number[]): Node {
    const { label } = matrix;
    const node = reshape(matrix, sizes, label, matrix.producer!.next);
    matrix.label = `${label}/rows`;
    matrix.type = f32([elementCount(sizes.slice(0, -1)), sizes.at(-1)!]);
    this.labels.set(matrix.label, label);
    matrix.graph.replaceUses(matrix, node.output, node);
    this.#matrices.set(node.output, matrix);
    return node;
  }
}

function reshape(value: Value, sizes: readonly number[], label: string, before: Node | null): Node {
  const { graph } = value;
  const shape = graph.addConstant(`${label}/sizes`, Tensor.i64([sizes.length], sizes));
  const name = `${label}/Reshape`;
  const provenance = value.producer?.provenance ?? [];
  const outputs = [{ label, type: f32(sizes) }];
  return graph.addNode({ op: "Reshape", name, inputs: [value, shape], outputs, provenance }, before);
}
