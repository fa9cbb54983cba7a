/**
 *   W f32, as half precision   =>   Cast<f32>(W f16)
 *
 * What is left in float32 of a model that came in half precision (widen-half.ts) takes no more room than it took there. ONNX
 * Runtime widens it once, when it loads the model.
 */
import { bf16BitsToF32, f16BitsToF32, f32ToBf16Bits, f32ToF16Bits } from "../../base/f16.js";
import { attr, dtypeCode, graphsWithin, type Model, type Tensor, type Use, type Value } from "../../ir/index.js";
import { isHalfType } from "../../rewrite/index.js";
import { f32Chunks, type HalfType, narrowTensor } from "./narrow-tensor.js";

/** Fewer are not worth a node; what a kernel must have as a constant, a bound or a scale, is small. */
const LEAST_ELEMENTS = 1024;

/** How a model came. */
export interface HalfWeights {
  /** What most of its numbers in half precision are in. */
  readonly half: HalfType;
  /** Whether there are more of those than in float32. */
  readonly isMostlyHalf: boolean;
  /** Labels of what was in float32 there. */
  readonly wide: ReadonlySet<string>;
}

/** Null for a model whose weights are all in float32. */
export function halfWeightsOf(model: Model): HalfWeights | null {
  const constants = [...graphsWithin(model.graph)].flatMap((graph) => [...graph.constants]);
  const numbers = { f16: 0, bf16: 0 };
  for (const { constant } of constants) {
    if (constant && isHalfType(constant.dtype)) numbers[constant.dtype] += constant.elementCount;
  }
  if (numbers.f16 + numbers.bf16 === 0) return null;
  const wide = constants.filter(({ dtype }) => dtype === "f32");
  const wideNumbers = wide.reduce((sum, { constant }) => sum + constant!.elementCount, 0);
  return {
    half: numbers.f16 >= numbers.bf16 ? "f16" : "bf16",
    isMostlyHalf: numbers.f16 + numbers.bf16 > wideNumbers,
    wide: new Set(wide.map(({ label }) => label)),
  };
}

/** Weights that may be stored so, of a model that integers are still to be made of: what comes with those is none of them. */
export const weightsToStore = (model: Model, { wide }: HalfWeights): readonly Value[] =>
  [...graphsWithin(model.graph)].flatMap(({ constants }) =>
    [...constants].filter(
      ({ constant, label }) => constant?.dtype === "f32" && constant.elementCount >= LEAST_ELEMENTS && !wide.has(label),
    ),
  );

/** Those of `weights` that are still read and lose nothing by it, or no more than weights of products may. */
export function storeAsHalf(weights: readonly Value[], { half, isMostlyHalf }: HalfWeights): void {
  for (const value of weights) {
    const { graph, label } = value;
    const tensor = value.constant!;
    const readers = value.uses.flatMap((use) => (use.kind === "input" ? use : []));
    if (value.useCount === 0 || readers.some(wantsConstant)) continue;
    const isWeight = readers.length === value.useCount && readers.every(isFactor);
    if (!isHeld(tensor, half, isMostlyHalf && isWeight)) continue;
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

type Input = Extract<Use, { kind: "input" }>;

/** Scales of what becomes an integer kernel, and whatever operators of other domains look at when they are loaded. */
const wantsConstant = ({ node, index }: Input): boolean => node.domain !== "" || (index > 0 && /Linear/.test(node.op));

const products: ReadonlySet<string> = new Set(["Conv", "ConvTranspose", "Gemm", "MatMul"]);

/** What products multiply by: positions and angles, which may come of float32 and be read elsewhere, have to be exact. */
const isFactor = ({ node, index }: Input): boolean => index === 1 && products.has(node.op);

/** Half a unit in the last place, of the element's size; and what is nothing beside the largest element. */
const UNIT_ROUNDOFF: Readonly<Record<HalfType, number>> = { f16: 2 ** -11, bf16: 2 ** -8 };
const NEGLIGIBLE = 2 ** -20;

/** Whether half precision has all elements, or, where they may be rounded, elements as near as it gets. */
function isHeld(tensor: Tensor, half: HalfType, mayRound: boolean): boolean {
  const [toBits, fromBits] = half === "f16" ? [f32ToF16Bits, f16BitsToF32] : [f32ToBf16Bits, bf16BitsToF32];
  let largest = 0;
  let lost = 0;
  for (const values of f32Chunks(tensor)) {
    for (const value of values) {
      const rounded = fromBits(toBits(value));
      const [error, magnitude] = [Math.abs(rounded - value), Math.abs(value)];
      if (magnitude > largest && magnitude < Number.POSITIVE_INFINITY) largest = magnitude;
      if (Object.is(rounded, value)) continue;
      if (!mayRound) return false;
      if (!(error <= UNIT_ROUNDOFF[half] * magnitude)) lost = Math.max(lost, error);
    }
  }
  return lost <= NEGLIGIBLE * largest;
}
