/**
 *   W f32, as half precision   =>   Cast<f32>(W f16)
 *
 * What is left in float32 of a model that came in half precision (widen-half.ts) takes no more room than it took there. ONNX
 * Runtime widens it once, when it loads the model.
 */
import { bf16BitsToF32, f16BitsToF32, f32ToBf16Bits, f32ToF16Bits } from "../../base/f16.js";
import { attr, dtypeCode, graphsWithin, type Model, type Tensor, type Value } from "../../ir/index.js";
import { isHalfType } from "./float32-reading.js";
import { f32Chunks, type HalfType, narrowTensor } from "./narrow-tensor.js";

/** Fewer are not worth a node; what a kernel must have as a constant, a bound or a scale, is small. */
const LEAST_ELEMENTS = 1024;

/** How a model came. */
export interface HalfWeights {
  readonly half: HalfType;
  /** Labels of what was in float32 there. */
  readonly wide: ReadonlySet<string>;
}

/** Null for a model whose weights are all in float32. */
export function halfWeightsOf(model: Model): HalfWeights | null {
  const constants = [...graphsWithin(model.graph)].flatMap((graph) => [...graph.constants]);
  const half = constants.map(({ dtype }) => dtype).find(isHalfType);
  return half
    ? { half, wide: new Set(constants.filter(({ dtype }) => dtype === "f32").map(({ label }) => label)) }
    : null;
}

/** Weights that may be stored so, of a model that integers are still to be made of: what comes with those is none of them. */
export const mayBeHalf = (model: Model, { wide }: HalfWeights): readonly Value[] =>
  [...graphsWithin(model.graph)].flatMap(({ constants }) =>
    [...constants].filter(
      ({ constant, label }) => constant?.dtype === "f32" && constant.elementCount >= LEAST_ELEMENTS && !wide.has(label),
    ),
  );

/** Those of `weights` that are still read, where half precision rounds them by no more than it does. */
export function storeAsHalf(weights: readonly Value[], { half }: HalfWeights): void {
  for (const value of weights) {
    const { graph, label } = value;
    const tensor = value.constant!;
    if (value.useCount === 0 || value.isGraphOutput || isScale(value) || !isHeld(tensor, half)) continue;
    const cast = graph.addNode(
      {
        op: "Cast",
        name: `${label}/Cast`,
        inputs: [graph.addConstant(label, narrowTensor(tensor, half))],
        attributes: { to: attr.int(dtypeCode("f32")) },
        outputs: [{ label: `${label}/f32`, type: { dtype: "f32", shape: tensor.dims } }],
      },
      graph.firstNode,
    );
    graph.replaceUses(value, cast.output);
    graph.removeConstant(value);
  }
}

/** Pairs around what becomes an integer kernel are told by constants. */
const isScale = ({ uses }: Value): boolean =>
  [...uses].some((use) => use.kind === "input" && use.index > 0 && /Linear/.test(use.node.op));

/** Half a unit in the last place, of the element's size; and what is nothing beside the largest element. */
const OWN: Readonly<Record<HalfType, number>> = { f16: 2 ** -11, bf16: 2 ** -8 };
const LARGEST = 2 ** -20;

function isHeld(tensor: Tensor, half: HalfType): boolean {
  const [toBits, fromBits] = half === "f16" ? [f32ToF16Bits, f16BitsToF32] : [f32ToBf16Bits, bf16BitsToF32];
  let largest = 0;
  let lost = 0;
  for (const values of f32Chunks(tensor)) {
    for (const value of values) {
      const rounded = fromBits(toBits(value));
      const [error, magnitude] = [Math.abs(rounded - value), Math.abs(value)];
      if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude;
      if (Object.is(rounded, value)) continue;
      if (!(error <= OWN[half] * magnitude)) lost = Math.max(lost, error);
    }
  }
  return lost <= LARGEST * largest;
}
