/**
 * How low the numbers of a mask can be. It matters for rows that hide every key, where the
 * weights tell how the hidden keys compare: -1e9 with -1e9, or with -3.4e38, or with -inf.
 */
import type { Node, Tensor, Value } from "../../ir/index.js";
import { constantIntegers, constantScalar } from "../../rewrite/match.js";
import type { Mask } from "./pattern.js";

/** Hides as well as the lowest number does: beside it any score vanishes. */
export const LOW = -1e30;
/** Sums of a few numbers above this are finite. */
export const TOO_LOW = -1e37;
/** LOW takes in numbers above this. */
export const HIGH = -1e20;
/** A number that hides, and of which scores of any size take nothing away, nor does LOW. */
export const FAR_BELOW = -1e35;
/** What masks that do not hide, but say where tokens are, stay below. */
const MODEST = 1e3;

const keepsNumbers = new Set(["Expand", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Transpose", "Identity", "Gather"]);
const MAX_DEPTH = 16;

/** Whether every element is known to be a number as asked for. */
function every(
  value: Value | null | undefined,
  isFine: (element: number) => boolean,
  depth: number = MAX_DEPTH,
): boolean {
  if (!value || depth === 0) return false;
  if (value.constant) return value.constant.toF32()?.every(isFine) ?? false;
  const node = value.producer;
  if (node?.domain !== "") return false;
  const after = (input: Value | null | undefined): boolean => every(input, isFine, depth - 1);
  if (node.op === "Where") return after(node.inputs[1]) && after(node.inputs[2]);
  if (node.op === "ConstantOfShape") {
    const fill = node.attributes.get("value");
    return fill?.type === "tensor" ? (fill.value.toF32()?.every(isFine) ?? false) : !fill && isFine(0);
  }
  if (node.op === "Trilu") return isFine(0) && after(node.inputs[0]);
  return keepsNumbers.has(node.op) && after(node.inputs[0]);
}

/** Whether no element can be below `least`; a product by a modest number counts where its other side is flags. */
export function isHighEnough(value: Value | null | undefined, least: number, depth: number = MAX_DEPTH): boolean {
  if (!value || depth === 0) return false;
  if (value.constant) return value.constant.toF32()?.every((x) => x >= least) ?? false;
  const node = value.producer;
  if (node?.domain !== "" || value.dtype !== "f32") return false;
  const after = (input: number): boolean => isHighEnough(node.inputs[input], least, depth - 1);
  if (keepsNumbers.has(node.op)) return after(0);
  if (node.op === "Where") return after(1) && after(2);
  if (node.op === "Max") return node.inputs.some((_, i) => after(i));
  if (node.op === "Cast") return isInteger(node.inputs[0]);
  if (node.op !== "Mul") return false;
  return [0, 1].some((i) => isModest(constantScalar(node.inputs[i])) && isFlag(node.inputs[1 - i]));
}

const isInteger = (value: Value | null | undefined): boolean => !!value?.dtype && !/^(f|bf)/.test(value.dtype);
const isModest = (number: number | null): boolean => number !== null && Math.abs(number) <= 1e10;

/** Whether a value is made of integers and modest numbers: flags, or the lack of them. */
function isFlag(value: Value | null | undefined, depth: number = MAX_DEPTH): boolean {
  if (!value || depth === 0) return false;
  if (value.constant) return value.constant.toF32()?.every(isModest) ?? isInteger(value);
  const node = value.producer;
  if (!node) return isInteger(value);
  if (node.domain !== "") return false;
  if (node.op === "Cast" && isInteger(node.inputs[0])) return true;
  if (["Cast", "Neg"].includes(node.op) || keepsNumbers.has(node.op)) return isFlag(node.inputs[0], depth - 1);
  return ["Sub", "Add", "Mul"].includes(node.op) && node.inputs.every((input) => isFlag(input, depth - 1));
}

/**
 * What Where is to fill in for the hidden scores, so that adding it to a score comes to the same;
 * null when that cannot be told. Low numbers take in any score. Others may become LOW where no
 * number of another mask lies between.
 */
export function fillOf(index: number, masks: readonly Mask[]): number | null {
  const own = masks[index]!;
  if (own.kind !== "chosen") return null;
  if (own.fill === Number.NEGATIVE_INFINITY) return own.fill;
  const isApart = masks.every((mask, at) => {
    if (mask.kind === "chosen") return mask.fill === own.fill || mask.fill === Number.NEGATIVE_INFINITY;
    // What is added later is added to the filled in numbers too.
    const isFine = (x: number): boolean =>
      [0, Number.NEGATIVE_INFINITY].includes(x) ||
      (x <= FAR_BELOW && own.fill > LOW) ||
      (at < index && Math.abs(x) <= MODEST);
    return every(mask.value, isFine);
  });
  return isApart ? LOW : own.fill <= LOW ? own.fill : null;
}

/** Whether a mask has no finite number below `least`. */
export const isHighOrInfinite = (mask: Mask, fill: number | null, least: number): boolean =>
  mask.kind === "chosen"
    ? fill! >= least || fill === Number.NEGATIVE_INFINITY
    : isHighEnough(mask.value, least) || every(mask.value, (x) => x >= least || x === Number.NEGATIVE_INFINITY);

/** Whether each row of a mask leaves at least one key visible. */
export function showsKeys(mask: Mask): boolean {
  if (mask.kind === "chosen") return everyRowHas(mask.condition, mask.keepsWhen);
  const { constant, producer } = mask.value;
  if (constant) return hasInEachRow(constant, (x) => x >= TOO_LOW);
  // What is hidden lies above the diagonal, or a later one.
  if (producer?.is("Trilu")) return producer.int("upper", 1) === 1 && diagonalOf(producer) > 0;
  if (!producer?.is("Where")) return false;
  const [condition, yes, no] = producer.inputs;
  return (
    (isHighEnough(yes, TOO_LOW) && everyRowHas(condition, true)) ||
    (isHighEnough(no, TOO_LOW) && everyRowHas(condition, false))
  );
}

/** Whether each row of a condition has an element that is `wanted`, in every run. */
function everyRowHas(condition: Value | null | undefined, wanted: boolean): boolean {
  if (!condition) return false;
  const isWanted = (x: number): boolean => (x !== 0) === wanted;
  if (condition.constant) return hasInEachRow(condition.constant, isWanted);
  const node = condition.producer;
  if (node?.is("Not")) return everyRowHas(node.inputs[0], !wanted);
  if (node?.is("Slice")) {
    // The first column of a triangle.
    const [data, starts, , axes, steps] = node.inputs;
    const rank = data?.shape?.length ?? 0;
    const along = constantIntegers(axes)?.map((axis) => (axis < 0 ? axis + rank : axis));
    const from = constantIntegers(starts);
    const at = along?.indexOf(rank - 1) ?? 0;
    const keepsFirst = along !== undefined && (at < 0 || (from?.[at] === 0 && isOne(steps)));
    return keepsFirst && !!data?.constant && startsEachRow(data.constant, isWanted);
  }
  if (node?.is("Equal") && !wanted && constantScalar(node.inputs[1]) === 0) return isLowerTriangle(node.inputs[0]);
  if (node?.is("Cast") && wanted && node.inputs[0]?.dtype !== "string") return isLowerTriangle(node.inputs[0]);
  return wanted && isLowerTriangle(condition);
}

const isOne = (steps: Value | null | undefined): boolean =>
  !steps || (constantIntegers(steps)?.every((step) => step === 1) ?? false);

/** Trilu of numbers that are not 0: the first column is kept. */
function isLowerTriangle(value: Value | null | undefined): boolean {
  const node = value?.producer;
  if (!node?.is("Trilu") || node.int("upper", 1) !== 0) return false;
  return diagonalOf(node) >= 0 && every(node.inputs[0], (x) => x !== 0 && !Number.isNaN(x));
}

/** Which diagonal a Trilu starts from; NaN when it is computed. */
const diagonalOf = (trilu: Node): number => (trilu.inputs[1] ? (constantScalar(trilu.inputs[1]) ?? Number.NaN) : 0);

const elementsOf = (tensor: Tensor): Uint8Array | Float32Array | null =>
  tensor.dtype === "bool" ? tensor.bytes() : tensor.toF32();

function hasInEachRow(tensor: Tensor, isWanted: (x: number) => boolean): boolean {
  const elements = elementsOf(tensor);
  const width = tensor.dims.at(-1) ?? 1;
  if (!elements || width === 0) return false;
  let misses = 0;
  for (let i = 0; i < elements.length; i++) {
    misses = isWanted(elements[i]!) ? 0 : misses + 1;
    // A row ends, and none was found in it.
    if ((i + 1) % width === 0) {
      if (misses >= width) return false;
      misses = 0;
    }
  }
  return true;
}

function startsEachRow(tensor: Tensor, isWanted: (x: number) => boolean): boolean {
  const elements = elementsOf(tensor);
  const width = tensor.dims.at(-1) ?? 1;
  if (!elements || width === 0) return false;
  for (let i = 0; i < elements.length; i += width) if (!isWanted(elements[i]!)) return false;
  return true;
}
