/**
 * A product of rows, and what is added to each of them:
 *
 *   Add(MatMul(x: [...rows, K], W: [K, N]), b: [N])  =>  Reshape(Gemm(Reshape(x), W, b))     where all sizes of x are known
 *
 * ONNX Runtime writes the two as a Gemm by itself (MatMulAddFusion), with its bias in float, and has no integer kernel for that: in every
 * run it widens the weights and multiplies floats. With the bias among the integers both are one integer kernel.
 */
import { elementCount, type Node, soleReader, Tensor, type TensorType, type Value } from "../ir/index.js";
import { activationSlots, compute, type IntegerTarget, passthrough } from "../target/integer-kernel.js";
import { behindNode, type PlannedNode } from "./plan-static.js";

export interface BiasedProducts {
  readonly nodes: readonly PlannedNode[];
  /** By a matrix, the label of the value whose elements it has: what is known of that holds for it. */
  readonly matrices: ReadonlyMap<Value, string>;
}

/**
 * Writes such products among nodes that are to be integers as Gemms, which stand in their place then.
 *
 * @param keptFloat names of nodes that somebody wants in float
 */
export function biasedProducts(
  planned: readonly PlannedNode[],
  { isMeasurable }: IntegerTarget,
  keptFloat: ReadonlySet<string>,
): BiasedProducts {
  const all = new Map(planned.map((each) => [each.node, each]));
  const writer = new GemmWriter();
  const nodes = planned.flatMap((each): readonly PlannedNode[] => {
    const form = isMeasurable ? biasedForm(each.node) : null;
    // What is quantized in front of the sum has other readers among integers, or is wanted so.
    if (!form || each.outputs.length > 0 || keptFloat.has(form.sum.name)) return [each];
    return writer.gemm(form, readAsIntegers(form.sum, all));
  });
  // A Reshape may have lost its readers to the next product.
  return { nodes: nodes.filter(({ node }) => node.attached), matrices: writer.sources };
}

/** What a sum makes, or an activation behind it that the kernel absorbs, where only nodes among integers read it. */
function readAsIntegers(sum: Node, planned: ReadonlyMap<Node, PlannedNode>): Value | null {
  const [value] = behindNode(sum, compute(false));
  const { uses } = value!;
  const isRead = uses.every((use) => {
    const reader = use.kind === "input" ? planned.get(use.node) : undefined;
    return use.kind === "input" && reader && activationSlots(reader.node, reader.kernel).includes(use.index);
  });
  return uses.length > 0 && isRead ? value! : null;
}

interface BiasedForm {
  readonly product: Node;
  readonly sum: Node;
  readonly bias: Tensor;
  /** Of what the product reads: two at least. */
  readonly sizes: readonly number[];
}

function biasedForm(product: Node): BiasedForm | null {
  if (!product.is("MatMul")) return null;
  const [input, weight] = product.inputs;
  const shape = input?.shape ?? [];
  // A Reshape takes a size of 0 for one of what it reads.
  const sizes = shape.filter((size) => typeof size === "number" && size > 0) as number[];
  const sum = soleReader(product.output);
  if (sizes.length < Math.max(2, shape.length) || !sum?.is("Add")) return null;
  const bias = sum.inputs.find((value) => value !== product.output)?.constant;
  const columns = weight!.shape!.at(-1);
  const isRow = bias?.elementCount === columns && bias?.dims.at(-1) === columns && bias!.dims.length <= sizes.length;
  return isRow ? { product, sum, bias: bias!, sizes } : null;
}

const f32 = (shape: readonly number[]): TensorType => ({ dtype: "f32", shape });

class GemmWriter {
  readonly sources = new Map<Value, string>();
  /** The rows of values, once for all products. */
  readonly #rows = new Map<Value, Value>();

  /** @param quantized the result of the sum, or of the activation behind it, where it ends in integers; what others read keeps its label */
  gemm({ product, sum, bias, sizes }: BiasedForm, quantized: Value | null): readonly PlannedNode[] {
    const [input] = product.inputs as [Value];
    const isMatrix = sizes.length === 2;
    const [rows, added] = isMatrix ? [input, []] : this.#rowsOf(input, sizes, product);
    const gemm = asGemm(product, sum, rows, bias);
    // What a product before this was reshaped to, and nobody else reads.
    if (input.useCount === 0) input.graph.removeNode(input.producer!);
    // An activation that the kernel absorbs comes before any Reshape.
    const made = quantized && quantized !== sum.output ? quantized : gemm.output;
    const planned = [...added, { node: gemm, kernel: compute(false), outputs: quantized ? [made] : [] }];
    if (isMatrix) return planned;
    const back = this.#reshapedBack(made, [...sizes.slice(0, -1), bias.elementCount]);
    return quantized ? [...planned, { node: back, kernel: passthrough, outputs: [back.output] }] : planned;
  }

  /** With the node that makes them, where it is new. */
  #rowsOf(value: Value, sizes: readonly number[], before: Node): readonly [Value, readonly PlannedNode[]] {
    const known = this.#rows.get(value);
    if (known) return [known, []];
    const node = reshape(value, asRows(sizes), `${value.label}/rows`, before);
    this.#rows.set(value, node.output);
    this.sources.set(node.output, value.label);
    return [node.output, [{ node, kernel: passthrough, outputs: [node.output] }]];
  }

  /** Behind a matrix, whose label goes to what has the sizes that others read. */
  #reshapedBack(matrix: Value, sizes: readonly number[]): Node {
    const { label } = matrix;
    const node = reshape(matrix, sizes, label, matrix.producer!.next);
    matrix.label = `${label}/rows`;
    matrix.type = f32(asRows(sizes));
    this.sources.set(matrix, label);
    matrix.graph.replaceUses(matrix, node.output, node);
    this.#rows.set(node.output, matrix);
    return node;
  }
}

const asRows = (sizes: readonly number[]): readonly number[] => [elementCount(sizes.slice(0, -1)), sizes.at(-1)!];

/** In place of a product and a sum. */
function asGemm(product: Node, sum: Node, rows: Value, bias: Tensor): Node {
  const { graph, name } = product;
  const { label, type } = sum.output;
  const row = graph.addConstant(`${label}/bias`, Tensor.f32([bias.elementCount], bias.f32()));
  const inputs = [rows, product.inputs[1]!, row];
  const provenance = [...product.provenance, ...sum.provenance];
  const gemm = graph.addNode({ op: "Gemm", name, inputs, outputs: [{ label, type }], provenance }, sum);
  graph.replaceUses(sum.output, gemm.output);
  graph.removeNode(sum);
  graph.removeNode(product);
  return gemm;
}

function reshape(value: Value, sizes: readonly number[], label: string, before: Node | null): Node {
  const { graph } = value;
  const shape = graph.addConstant(`${label}/sizes`, Tensor.i64([sizes.length], sizes));
  const name = `${label}/Reshape`;
  const provenance = value.producer?.provenance ?? [];
  const outputs = [{ label, type: f32(sizes) }];
  return graph.addNode({ op: "Reshape", name, inputs: [value, shape], outputs, provenance }, before);
}
