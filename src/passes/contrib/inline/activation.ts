/**
 *   com.microsoft::FusedConv<activation="Relu">(x, w, b, z)   =>  Relu(Conv(x, w, b) + z)
 *   com.microsoft::FusedGemm<activation="Relu">(a, b, c)      =>  Relu(Gemm(a, b, c))
 *   com.microsoft::BiasGelu(x, b)   =>  Gelu(x + b)
 *   com.microsoft::FastGelu(x, b)   =>  Gelu<approximate="tanh">(x + b)
 *   com.microsoft::Gelu(x)          =>  Gelu(x)
 *   com.microsoft::QuickGelu(x)     =>  x * Sigmoid(alpha * x)
 */
import { type Attribute, attr, type Node, Tensor, type Value } from "../../../ir/index.js";
import { type Answer, defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { RUNTIME_DOMAIN } from "../domain.js";

export const inlineRuntimeActivation = defineRewrite({
  name: "inline-runtime-activation",
  summary: "Write ONNX Runtime's FusedConv and FusedGemm as Conv or Gemm and an activation",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::FusedConv`, `${RUNTIME_DOMAIN}::FusedGemm`],
  minOpset: 14,
  rewrite(root, context) {
    const { create, skip } = context;
    if (root.inputs[0]?.dtype !== "f32") return null;
    const activation = activationOf(root);
    if (!activation) return skip(`an activation that is not known: ${root.string("activation", "")}`);
    const inputs = root.inputs.slice(0, 3);
    const own = [...root.attributes].filter(([name]) => !name.startsWith("activation"));
    const product = create(root.op === "FusedConv" ? "Conv" : "Gemm", inputs, own).output;
    const added = root.inputs[3];
    const sum = added ? create("Add", [product, added]).output : product;
    return activation(sum, context);
  },
});

type Activation = (x: Value, context: RewriteContext) => Node;

/** What FusedConv gives in a list, and FusedGemm one by one. */
function activationOf(root: Node): Activation | null {
  const name = root.string("activation", "");
  const given = root.attributes.get("activation_params");
  const listed = given?.type === "floats" ? [...given.value] : [];
  const parameter = (index: number, word: string, otherwise: number): number =>
    listed[index] ?? root.float(`activation_${word}`, otherwise);
  const of =
    (attributes: Readonly<Record<string, Attribute>> = {}): Activation =>
    (x, { create }) =>
      create(name, [x], attributes);
  switch (name) {
    case "Relu":
    case "Sigmoid":
    case "Tanh":
    case "HardSwish":
      return of();
    case "LeakyRelu":
      return of({ alpha: attr.float(parameter(0, "alpha", 0.01)) });
    case "HardSigmoid":
      return of({ alpha: attr.float(parameter(0, "alpha", 0.2)), beta: attr.float(parameter(1, "beta", 0.5)) });
    case "Clip": {
      const [least, most] = listed;
      if (least === undefined || most === undefined) return null;
      return (x, { create, constant }) =>
        create("Clip", [
          x,
          constant("least", Tensor.scalar("f32", least)),
          constant("most", Tensor.scalar("f32", most)),
        ]);
    }
    default:
      return null;
  }
}

export const inlineRuntimeGelu = defineRewrite({
  name: "inline-runtime-gelu",
  summary: "Write ONNX Runtime's BiasGelu, FastGelu, Gelu and QuickGelu in operators of ai.onnx",
  numerics: "rounding",
  roots: ["BiasGelu", "FastGelu", "Gelu", "QuickGelu"].map((op) => `${RUNTIME_DOMAIN}::${op}`),
  minOpset: 20,
  rewrite(root, context) {
    const [x, bias] = root.inputs;
    if (x?.dtype !== "f32") return null;
    const { create } = context;
    if (root.op === "QuickGelu") return quickGelu(x, root.float("alpha", 1.702), context);
    const sum = bias ? create("Add", [x, bias]).output : x;
    return create("Gelu", [sum], root.op === "FastGelu" ? { approximate: attr.string("tanh") } : {});
  },
});

function quickGelu(x: Value, alpha: number, { create, constant }: RewriteContext): Answer {
  const scaled = create("Mul", [x, constant("alpha", Tensor.scalar("f32", alpha))]).output;
  return create("Mul", [x, create("Sigmoid", [scaled]).output]);
}
