/**
 *   Max(x, x), Min(x, x), And(c, c), Or(c, c)   =>  x, c
 *   Less(x, x), Greater(x, x), Xor(c, c)        =>  false        NaN is not less than NaN either
 *   Equal(i, i), LessOrEqual(i, i), ...         =>  true         of what cannot be NaN
 *   Sub(i, i)                                   =>  0            of integers
 *
 * Results of more than 64 KB stay: the constant would make the model larger.
 */
import { type DType, elementCount, isStatic, type Node, Tensor, type Value } from "../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../rewrite/index.js";

const LARGEST_BYTES = 64 << 10;

/** Types whose every element equals itself. */
const exact: ReadonlySet<DType | null> = new Set<DType>("bool i8 i16 i32 i64 u8 u16 u32 u64".split(" ") as DType[]);
const signed: ReadonlySet<DType | null> = new Set<DType>(["i32", "i64"]);

export const eliminateSameOperands = defineRewrite({
  name: "eliminate-same-operands",
  summary: "Replace what combines or compares a tensor with itself by the tensor or a constant",
  numerics: "exact",
  roots: ["Max", "Min", "And", "Or", "Xor", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal", "Sub"],
  rewrite(root, context) {
    const [x] = root.inputs;
    if (!x || root.inputs.length < 2 || root.inputs.some((input) => input !== x)) return null;
    switch (root.op) {
      case "Max":
      case "Min":
      case "And":
      case "Or":
        return x;
      case "Less":
      case "Greater":
      case "Xor":
        return everywhere(false, root, x, context);
      case "Sub":
        return signed.has(x.dtype) ? everywhere(false, root, x, context) : null;
      default:
        return exact.has(x.dtype) ? everywhere(true, root, x, context) : null;
    }
  },
});

function everywhere(isTrue: boolean, root: Node, x: Value, { constant, skip }: RewriteContext): Answer {
  if (!x.shape || !isStatic(x.shape)) return skip("the size of the constant is not known");
  const count = elementCount(x.shape);
  const bytesEach = root.op !== "Sub" ? 1 : x.dtype === "i32" ? 4 : 8;
  if (count * bytesEach > LARGEST_BYTES) return skip("the constant would make the model larger");
  const data = new Uint8Array(count * bytesEach).fill(isTrue ? 1 : 0);
  return constant(root.output.label, Tensor.fromBytes(root.op === "Sub" ? x.dtype! : "bool", x.shape, data));
}
