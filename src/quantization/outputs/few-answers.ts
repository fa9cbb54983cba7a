/**
 * Where answers are a few numbers, what integers do to them is chance for the most part: of two logits and ten samples
 * the noise is known to 3 dB, of the features that the last product makes them of to a few tenths. What lowers the one
 * lowers the other, though their decibels may lie apart: features have a mean that answers need not show. What is done to the
 * last product itself does not show in what it reads.
 */
import { isFloat, type Model, type Node, type Value } from "../../ir/index.js";
import { type LastProduct, lastProductOf } from "./last-products.js";

/** In the float answers to one sample, all together; of more the noise is known well enough. */
const MOST_NUMBERS = 64;
/** What products read has to be so many times as many numbers. */
const LEAST_FACTOR = 4;
/** Products with weights before the last: after fewer, what rounding does to the last ones themselves counts too, and that is not in view. */
const LEAST_BEFORE = 4;

/** The last products, by name, with what each reads. */
export type ProductInputs = ReadonlyMap<string, Value>;

/** Of a float model whose answers are few numbers, all of them made by products of far more; empty for others. */
export function inputsOfFewAnswers({ graph }: Model): ProductInputs {
  const outputs = graph.outputs.filter(({ value }) => value.dtype === null || isFloat(value.dtype));
  const products = new Map<string, LastProduct>();
  for (const { value } of outputs) {
    const product = lastProductOf(value, graph);
    if (!product) return new Map();
    products.set(product.node.name, product);
  }
  const inputs = new Map([...products].map(([name, { node }]) => [name, node.inputs[0]!] as const));
  const ports = new Set(graph.outputs.flatMap(({ name, value }) => [name, value.label]));
  if ([...inputs.values()].some(({ producer, label }) => producer === null || ports.has(label))) return new Map();
  const answers = sumOf(outputs.map(({ value }) => numbersOf(value)));
  const read = sumOf([...new Set(inputs.values())].map(numbersOf));
  const isFew = answers > 0 && answers <= MOST_NUMBERS && read >= LEAST_FACTOR * answers;
  const before = [...graph.nodes()].filter((node) => isProduct(node) && !products.has(node.name)).length;
  return isFew && before >= LEAST_BEFORE ? inputs : new Map();
}

const isProduct = (node: Node): boolean =>
  ["Conv", "ConvTranspose", "Gemm", "MatMul"].some((op) => node.is(op)) && node.inputs[1]?.constant != null;

/**
 * Makes what these products read outputs too, called by their labels in the float model. False, with nothing changed, where a
 * product is missing or reads no float value, as some integer operators do.
 */
export function tellInputs({ graph }: Model, inputs: ReadonlyMap<string, string>): boolean {
  const nodes = [...graph.nodes()].filter(({ name }) => inputs.has(name));
  const values = new Map(nodes.map((node) => [inputs.get(node.name)!, node.inputs[0]] as const));
  const areFloat = nodes.every(({ inputs: [value] }) => value?.dtype && isFloat(value.dtype));
  if (!areFloat || nodes.length < inputs.size) return false;
  for (const [label, value] of values) graph.addOutput(label, value!);
  return true;
}

/** Of one sample, whose axis is the first; infinite where a size is not known. */
const numbersOf = ({ shape }: Value): number =>
  shape === null
    ? Number.POSITIVE_INFINITY
    : shape.slice(1).reduce<number>((n, dim) => n * (typeof dim === "number" ? dim : Number.POSITIVE_INFINITY), 1);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
