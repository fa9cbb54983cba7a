/**
 *   DFT<axis=-2>(x: [..., n, 2])          =>  MatMul(x as [..., n * 2], cosines and sines), as [..., 2, bins], transposed
 *   DFT<axis=a>(x: [..., n, ..., 2])      =>  the same, with the matrix on the left
 *
 * Parts of a signal stand beside each other, as in DFT, and those of a spectrum are planes: so the transform along a second axis, the way
 * back and what reads one of the parts take them as they are, once the Transposes between both forms have met. ONNX Runtime's kernel
 * takes 1.5 to 4 times as long for powers of two, and 3 to 30 times for other lengths, with errors 10 to 100 times as large (1.30, Zen 3, 1
 * thread). Long transforms are made in two steps (see dft-by-factors.ts).
 */
import { elementCount, fromFront, type Node, type Shape, type Value } from "../../../ir/index.js";
import { defineRewrite } from "../../../rewrite/index.js";
import { constantIntegers, isKnown, producerOf, splitConstant } from "../../../rewrite/match.js";
import { isZeroState } from "../../eliminate/zero-state.js";
import { numberBeside } from "../../fuse/scalar-algebra.js";
import { dftByFactors } from "./dft-by-factors.js";
import { dftByMatrix } from "./dft-by-matrix.js";
import { firstOf } from "./first-of.js";
import { isToReal, sizeOf, type Transform } from "./transform.js";
import { fasterFactors, isFasterAsMatrix } from "./transform-cost.js";

export const inlineDft = defineRewrite({
  name: "inline-dft",
  summary: "Write a DFT of known length as a MatMul with its cosines and sines, or as two",
  numerics: "rounding",
  roots: ["DFT"],
  rewrite(dft, context) {
    const signal = dft.inputs[0];
    const along = signal?.dtype === "f32" ? axisOf(dft, context.opset) : null;
    if (!signal || along === null) return null;
    const before = scaledIn(signal.producer, dft);
    const plain = before?.x ?? signal;
    const x = isBackToReal(dft) ? plain : (realIn(plain) ?? plain);
    const given = x.shape ? transformOf(dft, x.shape, along) : null;
    if (!given) return null;
    const { length } = given;
    const transform = { ...given, from: { ...given.from, places: Math.min(given.from.places, length) } };
    const rows = elementCount(x.shape!.slice(0, -1).toSpliced(along, 1).filter(isKnown));
    const moved = sizeOf(transform.from) + sizeOf(transform.to);
    const factors = fasterFactors(transform, rows, () => true, moved);
    const [reader, ...more] = dft.output.uses;
    const after = reader?.kind === "input" && more.length === 0 ? scaledIn(reader.node, dft) : null;
    // Nobody may see what is beyond the length, even times 0.
    const isCut = given.from.places > length && !isToReal(given);
    const whole = isCut ? firstOf(x, x.shape!.with(along, length), along, context) : x;
    const one = { x: whole, along, transform, scale: (before?.factor ?? 1) * (after?.factor ?? 1) };
    const inSteps = factors && dftByFactors(one, factors, context);
    if (!inSteps && !isFasterAsMatrix(transform, rows))
      return context.skip("the runtime's own transform is faster for this length");
    const result = inSteps ?? dftByMatrix(one, context);
    if (result && after) context.alsoReplace(after.node.output, result);
    return result ?? context.skip("sizes beside the axis are not known");
  },
});

/** The axis along which it transforms, from the front; null where that is not known, or no axis in front of the parts. */
function axisOf(dft: Node, opset: number): number | null {
  const rank = dft.inputs[0]!.shape?.length;
  const given = opset < 20 ? [dft.int("axis", 1)] : dft.inputs[2] ? constantIntegers(dft.inputs[2]) : [-2];
  if (rank === undefined || given?.length !== 1) return null;
  const axis = fromFront(given[0]!, rank);
  return axis >= 0 && axis < rank - 1 ? axis : null;
}

/** Of a factor: larger ones, and smaller ones, may leave the range of float32 when they meet. */
const MOST_BITS = 32;

interface Scaled {
  readonly node: Node;
  readonly x: Value;
  readonly factor: number;
}

/** A product with one number, or a quotient, whose result the transform alone reads, or that reads the transform. */
function scaledIn(node: Node | null, dft: Node): Scaled | null {
  if (node?.domain !== "" || (node.op !== "Mul" && node.op !== "Div") || node.graph !== dft.graph) return null;
  const operands = splitConstant(node);
  const number = operands && numberBeside(operands.constant, operands.other);
  const isAlone = operands?.other === dft.output || node.output.useCount === 1;
  if (!operands || number === null || !isAlone || (node.op === "Div" && operands.index === 0)) return null;
  const factor = node.op === "Mul" ? number : 1 / number;
  return Math.abs(Math.log2(Math.abs(factor))) < MOST_BITS ? { node, x: operands.other, factor } : null;
}

const isInverse = (dft: Node): boolean => dft.int("inverse", 0) !== 0;
const isOneSided = (dft: Node): boolean => dft.int("onesided", 0) !== 0;
const isBackToReal = (dft: Node): boolean => isInverse(dft) && isOneSided(dft);

/** What is complex with an imaginary part of zeros. */
function realIn(complex: Value): Value | null {
  const concat = producerOf(complex, "Concat", complex.graph);
  const [real, imaginary, ...more] = concat?.inputs ?? [];
  const rank = real?.shape?.length;
  if (!concat || !real || !imaginary || !rank || more.length > 0) return null;
  const isOfParts = fromFront(concat.int("axis", 0), rank) === rank - 1 && real.shape!.at(-1) === 1;
  return isOfParts && isZeroState(imaginary) ? real : null;
}

function transformOf(dft: Node, shape: Shape, along: number): Transform | null {
  const [places, parts] = [shape[along], shape.at(-1)];
  if (!isKnown(places) || places === 0 || (parts !== 1 && parts !== 2)) return null;
  const [inverse, isHalf] = [isInverse(dft), isOneSided(dft)];
  const told = dft.inputs[1] ? constantIntegers(dft.inputs[1]) : [inverse && isHalf ? 2 * (places - 1) : places];
  const length = told?.length === 1 ? told[0]! : 0;
  if (length < 1) return null;
  const from = { parts, places } as const;
  const half = Math.floor(length / 2) + 1;
  if (!isHalf) return { length, inverse, from, to: { parts: 2, places: length } };
  if (!inverse) return parts === 1 ? { length, inverse, from, to: { parts: 2, places: half } } : null;
  // The runtime does not agree with the standard about bins that are too many or too few.
  return parts === 2 && places === half ? { length, inverse, from, to: { parts: 1, places: length } } : null;
}
