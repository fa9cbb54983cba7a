/**
 *   Einsum<"bfd,dhk->bfhk">(x, w)       =>  Reshape(MatMul(x, w: [d,h*k]), [b,f,h,k])
 *   Einsum<"bqhd,bkhd->bhqk">(q, k)     =>  MatMul(Transpose(q): [b,h,q,d], Transpose(k): [b,h,d,k])
 *   Einsum<"i,d->id">(a, constant)      =>  Mul(Unsqueeze(a): [i,1], constant)
 *
 * What it adds up shows: attention is told by its MatMuls, weights meet their neighbours and become integers, and Transposes that
 * ONNX Runtime's kernel makes for itself merge with those around it. More than two operands are multiplied from left to right, as
 * that kernel does.
 */
import type { Dim, Value } from "../../../ir/index.js";
import { defineRewrite } from "../../../rewrite/index.js";
import { isSameDim } from "../../../rewrite/match.js";
import { type Label, type Labelled, LabelledNodes, type Sizes } from "../labelled.js";
import { multiplyPair } from "../labelled-pair.js";
import { type Equation, readEquation } from "./equation.js";

export const inlineEinsum = defineRewrite({
  name: "inline-einsum",
  summary: "Write an Einsum as the MatMuls, sums and products of which it consists",
  numerics: "rounding",
  roots: ["Einsum"],
  // Of ReduceSum and Unsqueeze with inputs.
  minOpset: 13,
  rewrite(einsum, context) {
    const operands = einsum.inputs.filter((input): input is Value => input !== null);
    const dtype = einsum.output.dtype;
    if (!dtype || !floats.has(dtype) || operands.some((operand) => operand.dtype !== dtype)) return null;
    const equation = readEquation(einsum.string("equation", ""), operands);
    if (!equation)
      return context.skip(
        "a letter occurs twice in a term, the rank of an operand is not known, or the equation is not plain",
      );
    const sizes = sizesOf(equation, operands);
    if (!sizes) return context.skip("a size of 1 is repeated along an axis of the same letter");
    const nodes = new LabelledNodes(context, sizes);
    const product = multiplyAll(equation, operands, nodes);
    if (!product) return context.skip("sizes are not known, or not to be the same in both operands");
    // What changes nothing is an Identity, which another pass removes where it may.
    return product === operands[0] ? context.create("Identity", [product]) : product;
  },
});

const floats: ReadonlySet<string> = new Set(["f16", "bf16", "f32", "f64"]);

/** null where a size surely is repeated, which an Einsum does with 1. */
function sizesOf({ terms }: Equation, operands: readonly Value[]): Sizes | null {
  const sizes = new Map<Label, Dim>();
  const unsure = new Set<Label>();
  for (const [i, labels] of terms.entries()) {
    for (const [axis, label] of labels.entries()) {
      const size = operands[i]!.shape![axis]!;
      const before = sizes.get(label);
      const isSame = before === undefined || isSameDim(before, size);
      if (!isSame && (before === 1 || size === 1)) return null;
      if (!isSame) unsure.add(label);
      sizes.set(label, isSame ? size : null);
    }
  }
  return { known: sizes, unsure };
}

function multiplyAll({ terms, output }: Equation, operands: readonly Value[], nodes: LabelledNodes): Value | null {
  const rest: Labelled[] = terms.map((labels, i) => ({ value: operands[i]!, labels }));
  let product = rest.shift()!;
  for (let next = rest.shift(); next; next = rest.shift()) {
    const later = new Set([...output, ...rest.flatMap(({ labels }) => labels)]);
    const made = multiplyPair(product, next, rest.length === 0 ? output : null, later, nodes);
    if (!made) return null;
    product = made;
  }
  const unread = product.labels.filter((label) => !output.includes(label));
  return nodes.transpose(nodes.sum(product, unread), output).value;
}
