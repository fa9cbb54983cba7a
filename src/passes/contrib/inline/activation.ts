/**
 *   com.microsoft::FusedConv<activation="Relu">(x, w, b, z)   =>  Relu(Conv(x, w, b) + z)
 *   com.microsoft::FusedGemm<activation="Relu">(a, b, c)      =>  Relu(Gemm(a, b, c))
 *   com.microsoft::BiasGelu(x, b)   =>  Gelu(x + b)
 *   com.microsoft::FastGelu(x, b)   =>  Gelu<approximate="tanh">(x + b)
 *   com.microsoft::Gelu(x)          =>  Gelu(x)
 *   com.microsoft::QuickGelu(x)     =>  x * Sigmoid(alpha * x)
 */
import { ownEntry } from "../../../base/own-entry.js";
import { type Attribute, attr, type Node, Tensor, type Value } from "../../../ir/index.js";
import { defineRewrite, type RewriteContext } from "../../../rewrite/index.js";
import { RUNTIME_DOMAIN } from "../domain.js";
import { gemmActivations } from "../gemm-activation.js";

export const inlineRuntimeActivation = defineRewrite({
  name: "inline-runtime-activation",
  summary: "Write ONNX Runtime's FusedConv and FusedGemm as Conv or Gemm and an activation",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::FusedConv`, `${RUNTIME_DOMAIN}::FusedGemm`],
  // HardSwish.
  minOpset: 14,
  rewrite(root, context) {
    const { create, skip } = context;
    if (root.inputs[0]?.dtype !== "f32") return null;
    const isConv = root.op === "FusedConv";
    const name = root.string("activation", "");
    const activation = name === "" ? null : isConv ? ofConv(name, root) : ofGemm(name, root);
    if (name !== "" && !activation) return skip(`an activation that is not known: ${name}`);
    const own = [...root.attributes].filter(([each]) => !each.startsWith("activation"));
    const product = create(isConv ? "Conv" : "Gemm", root.inputs.slice(0, 3), own);
    const added = root.inputs[3];
    const sum = added ? create("Add", [product.output, added]) : product;
    return activation ? activation(sum.output, context) : sum;
  },
});

type Activation = (x: Value, context: RewriteContext) => Node;

const of =
  (name: string, attributes: Readonly<Record<string, Attribute>> = {}): Activation =>
  (x, { create }) =>
    create(name, [x], attributes);

/** Its parameters are a list: all that there are. */
function ofConv(name: string, root: Node): Activation | null {
  const given = root.attributes.get("activation_params");
  const [first = 0, second = 0] = given?.type === "floats" ? given.value : [];
  switch (name) {
    case "Relu":
    case "Sigmoid":
    case "Tanh":
    case "HardSwish":
      return of(name);
    case "LeakyRelu":
      return of(name, { alpha: attr.float(first) });
    case "HardSigmoid":
      return of(name, { alpha: attr.float(first), beta: attr.float(second) });
    case "Clip":
      return (x, { create, constant }) =>
        create(name, [
          x,
          constant("least", Tensor.scalar("f32", first)),
          constant("most", Tensor.scalar("f32", second)),
        ]);
    default:
      return null;
  }
}

function ofGemm(name: string, root: Node): Activation | null {
  const parameters = ownEntry(gemmActivations, name);
  if (!parameters) return null;
  const given = Object.entries(parameters).map(([each, absent]) => [
    each,
    attr.float(root.float(`activation_${each}`, absent)),
  ]);
  return of(name, Object.fromEntries(given));
}

export const inlineRuntimeGelu = defineRewrite({
  name: "inline-runtime-gelu",
  summary: "Write ONNX Runtime's BiasGelu, FastGelu and Gelu as Add and Gelu",
  numerics: "rounding",
  roots: ["BiasGelu", "FastGelu", "Gelu"].map((op) => `${RUNTIME_DOMAIN}::${op}`),
  minOpset: 20,
  rewrite(root, context) {
    const [x, bias] = root.inputs;
    if (x?.dtype !== "f32") return null;
    const { create } = context;
    const sum = bias ? create("Add", [x, bias]).output : x;
    return create("Gelu", [sum], root.op === "FastGelu" ? { approximate: attr.string("tanh") } : {});
  },
});

export const inlineRuntimeQuickGelu = defineRewrite({
  name: "inline-runtime-quick-gelu",
  summary: "Write ONNX Runtime's QuickGelu as Mul and Sigmoid",
  numerics: "rounding",
  roots: [`${RUNTIME_DOMAIN}::QuickGelu`],
  minOpset: 7,
  rewrite(root, { create, constant }) {
    const [x] = root.inputs;
    if (x?.dtype !== "f32") return null;
    const alpha = constant("alpha", Tensor.scalar("f32", root.float("alpha", 1.702)));
    return create("Mul", [x, create("Sigmoid", [create("Mul", [x, alpha]).output]).output]);
  },
});
