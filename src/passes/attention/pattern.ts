/**
 * Attention written out:
 *
 *   MatMul(Softmax(MatMul(q, Transpose(k)) * scale + mask), v)
 *
 * The scale may be a product or a quotient, before or after the first MatMul, on either
 * side or on both; masks may be added, any number of them, or chosen by Where. Exporters
 * of torch make weights that are NaN, of a row without any key, 0 by Where(IsNaN(p), 0, p).
 */
import { type Node, opsetOf, type Value } from "../../ir/index.js";
import type { RewriteContext } from "../../rewrite/index.js";
import { constantScalar, scalarBeside, soleProducer } from "../../rewrite/match.js";
import { areSame } from "../fold/size.js";
import { type Heads, headsOf, headsOfTransposed, type SizesOf, unrepeated } from "./heads.js";

/** Add of a mask to the scores. */
export interface AddedMask {
  readonly kind: "added";
  readonly value: Value;
}

/** Where that keeps the scores where the condition says so, and puts a number far below them elsewhere. */
export interface ChoosingMask {
  readonly kind: "chosen";
  readonly condition: Value;
  readonly fill: number;
  /** What the condition is where scores are kept. */
  readonly keepsWhen: boolean;
}

export type Mask = AddedMask | ChoosingMask;

export interface AttentionParts {
  readonly q: Heads;
  readonly k: Heads;
  readonly v: Heads;
  readonly scale: number;
  /** c of c * Tanh(scores / c); 0 where there is none. */
  readonly softcap: number;
  /** In the order in which they are applied. */
  readonly masks: readonly Mask[];
  /** Whether weights that are NaN, those of a row without any key, become 0. */
  readonly isGuarded: boolean;
}

/** Scores that much lower than the others weigh nothing in f32, whatever the others are within reason. */
const HIDDEN = -1e4;

/** The parts, null when a MatMul is not one of attention, or why they cannot be told. */
export function attentionAt(
  product: Node,
  { model }: RewriteContext,
  sizesOf: SizesOf,
): AttentionParts | string | null {
  const guard = product.is("MatMul") ? beforeGuard(product.inputs[0]) : null;
  const weights = (guard ?? product.inputs[0])?.producer;
  if (!product.is("MatMul") || !weights?.is("Softmax") || weights.graph !== product.graph) return null;
  const v = product.inputs[1] && unrepeated(product.inputs[1], sizesOf);
  const values = v ? headsOf(v, sizesOf) : null;
  // Any MatMul may read a Softmax: attention is told by its four axes.
  if (!v || v.constant || !values) return null;
  if (!guard && !soleProducer(product.inputs[0], "Softmax")) return "the weights of the attention are read elsewhere";
  if (!isOverLastAxis(weights, opsetOf(model))) return "the Softmax is not over the keys";
  if (weights.output.dtype !== "f32") return "only f32 has kernels that are as fast";

  const found = scoresOf(weights.inputs[0]);
  if (typeof found === "string") return found;
  const { scores, masks } = found;
  const q = peelScale(scores.inputs[0]);
  const k = peelScale(scores.inputs[1]);
  const transposed = k.value && headsOfTransposed(k.value, sizesOf);
  // The scale may stand on either side of the transposition.
  const inner = transposed?.headsFirst ? peelScale(transposed.headsFirst) : null;
  const key = inner?.value ? headsOf(unrepeated(inner.value, sizesOf), sizesOf) : transposed;
  const query = q.value && headsOf(q.value, sizesOf);
  if (!query || !key) return "the key is not a transposition, or the query has no four axes";
  const { softcap } = found;
  const scale = found.scale * q.scale * k.scale * (inner?.scale ?? 1);
  if (!(Math.fround(scale) > 0 && Math.fround(scale) < Number.POSITIVE_INFINITY))
    return "the scores are not scaled by a positive number";

  const parts = { q: query, k: key, v: values, scale, softcap, masks, isGuarded: guard !== null };
  return whyUnequal(parts) ?? parts;
}

/** MatMul broadcasts what the operator does not. */
function whyUnequal({ q, k, v }: AttentionParts): string | null {
  if (!areSame(q.batch, k.batch) || !areSame(q.batch, v.batch)) return "the batches may differ in size";
  if (!areSame(k.heads, v.heads)) return "key and value may differ in their number of heads";
  const [many, few] = [q.heads, k.heads];
  const divides = typeof many === "number" && typeof few === "number" && few > 0 && many % few === 0;
  return divides || areSame(many, few) ? null : "the number of heads is not known";
}

/** p of Where(IsNaN(p), 0, p), which nobody else reads. */
function beforeGuard(value: Value | null | undefined): Value | null {
  const where = soleProducer(value, "Where");
  const [condition, zero, weights] = where?.inputs ?? [];
  const asked = soleProducer(condition, "IsNaN");
  const isOfWeights = !!weights && asked?.inputs[0] === weights && weights.uses.length === 2;
  return isOfWeights && scalarBeside(zero, weights) === 0 ? weights : null;
}

function isOverLastAxis(softmax: Node, opset: number): boolean {
  const axis = softmax.int("axis", null);
  // Softmax used to be over all axes from the second on.
  return axis === null ? opset >= 13 : axis === -1 || axis === 3;
}

/** The MatMul whose result goes into the Softmax, and what happens on the way. */
function scoresOf(
  start: Value | null | undefined,
): { scores: Node; scale: number; softcap: number; masks: Mask[] } | string {
  const masks: Mask[] = [];
  for (let at = start; ; ) {
    const { value, scale } = peelScale(at);
    const scores = value ? soleProducer(value, "MatMul") : null;
    if (scores) return { scores, scale, softcap: 0, masks };
    const capped = scale > 0 ? peelScale(soleProducer(value, "Tanh")?.inputs[0]) : null;
    const inside = capped?.value ? soleProducer(capped.value, "MatMul") : null;
    // Versions of the operator differ in whether the mask comes before the cap.
    if (inside && masks.length > 0) return "the scores are both capped and masked";
    if (inside) return { scores: inside, scale: capped!.scale * scale, softcap: scale, masks };
    if (scale !== 1) return "a mask is scaled together with the scores";
    const sum = soleProducer(value, "Add");
    const next: Value | null | undefined = sum
      ? afterSum(sum, masks)
      : afterChoice(soleProducer(value, "Where"), masks);
    if (!next) return "the scores are not one MatMul, scaled and masked";
    at = next;
  }
}

/** The operand that leads to the scores; the other is a mask. */
function afterSum(sum: Node, masks: Mask[]): Value | null {
  const [a, b] = sum.inputs;
  if (!a || !b || a === b) return null;
  const index = leadsToMatMul(a) ? 0 : leadsToMatMul(b) ? 1 : null;
  if (index === null) return null;
  masks.unshift({ kind: "added", value: index === 0 ? b : a });
  return sum.inputs[index]!;
}

function afterChoice(where: Node | null, masks: Mask[]): Value | null {
  const [condition, yes, no] = where?.inputs ?? [];
  if (!where || !condition || !yes || !no) return null;
  const keepsWhen = !yes.constant;
  const [kept, fill] = keepsWhen ? [yes, no] : [no, yes];
  const number = (fill.shape?.length ?? 0) <= 4 ? constantScalar(fill) : null;
  if (number === null || !(number <= HIDDEN)) return null;
  masks.unshift({ kind: "chosen", condition, fill: number, keepsWhen });
  return kept;
}

/** Whether a value is made by MatMul, scaled and masked or not, for this reader alone. */
function leadsToMatMul(start: Value): boolean {
  const pending = [start];
  for (let steps = 0; steps < 16; steps++) {
    const value = pending.pop();
    if (!value) return false;
    const node = ["MatMul", "Mul", "Div", "Tanh", "Add", "Where"]
      .map((op) => soleProducer(value, op))
      .find((found) => found);
    if (node?.op === "MatMul") return !node.inputs.some((input) => input?.constant);
    if (node) pending.push(...node.inputs.filter((input): input is Value => !!input && !input.constant));
  }
  return false;
}

/** What is left of a value when factors that are constants are taken off, and their product. */
function peelScale(start: Value | null | undefined): { value: Value | null; scale: number } {
  let value = start ?? null;
  let scale = 1;
  for (;;) {
    const product = soleProducer(value, "Mul");
    const quotient = product ? null : soleProducer(value, "Div");
    const [a, b] = (product ?? quotient)?.inputs ?? [];
    const byRight = scalarBeside(b, a);
    const byLeft = product ? scalarBeside(a, b) : null;
    const factor = byRight ?? byLeft;
    if (factor === null) return { value, scale };
    scale *= quotient ? 1 / factor : factor;
    value = (byRight === null ? b : a) ?? null;
  }
}
