/**
 * Makes a graph what a recipe says: one quantizer after the other, each on the nodes that
 * are its own. Static comes first, since ranges are known by the float graph's names.
 */
import { invariant } from "../base/errors.js";
import { type Model, type Node, nodesWithin } from "../ir/index.js";
import type { TapStatistics } from "../observe/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { mayBeDynamic, quantizeDynamic } from "./dynamic.js";
import { quantizeEmbeddings } from "./embedding.js";
import { bitsOf, type Form } from "./form.js";
import type { KeptIntegers } from "./kept-integers.js";
import { applyOutputLines } from "./outputs/output-line.js";
import type { FloatNode } from "./plan-static.js";
import { productWeight } from "./product-weight.js";
import { quantizeStatic } from "./quantize-static.js";
import { formOf, type Recipe } from "./recipe.js";
import { quantizeWeights } from "./weight-only.js";
import { WeightStore } from "./weight-store.js";

export interface RecipeRequest {
  readonly target: IntegerTarget;
  /** By value label; null only when no node is static. */
  readonly taps: ReadonlyMap<string, TapStatistics> | null;
  /** Nodes that stay float whatever the recipe says, with the reason to give. */
  readonly keepFloat: ReadonlyMap<string, string>;
  /** What models with the same weights have in common. */
  readonly kept?: KeptIntegers | undefined;
}

export interface RecipeReport {
  /** What became of each quantized node, by name. */
  readonly forms: ReadonlyMap<string, Form>;
  readonly float: readonly FloatNode[];
  /** Things that had to bend, in words. */
  readonly notes: readonly string[];
}

export function applyRecipe(
  model: Model,
  recipe: Recipe,
  { target, taps, keepFloat, kept }: RecipeRequest,
): RecipeReport {
  // By name, before anything is rewritten: what quantizers add is nobody's.
  const nodes = [...nodesWithin(model.graph)];
  const wanted = new Map(nodes.map((node) => [node.name, servedAs(formOf(recipe, node), node, target)]));
  const forms = new Map<string, Form>();
  if (recipe.lines) applyOutputLines(model, recipe.lines);
  const float: FloatNode[] = nodes
    .filter(({ name }) => wanted.get(name) === "float")
    .map(({ name, op }) => ({ node: name, op, reason: keepFloat.get(name) ?? "nothing smaller was chosen for it" }));
  const notes: string[] = [];
  const choiceOf = (...own: readonly Form[]) => ({
    keepFloat,
    takes: ({ name }: Node): boolean => own.includes(wanted.get(name) ?? "float"),
  });
  const told = (report: Reported, form?: Form): void => {
    for (const name of report.quantized) forms.set(name, form ?? wanted.get(name)!);
    float.push(...report.float);
    notes.push(...(report.notes ?? []));
  };

  let store = new WeightStore();
  if (recipe.statics) {
    invariant(taps, "static integers need ranges");
    const report = quantizeStatic(model, { target, choice: recipe.statics, taps, kept }, choiceOf("static"));
    told(report);
    store = report.store;
  }
  const isWanted = new Set(wanted.values());
  const perRow = ({ name }: Node): boolean => wanted.get(name) === "dynamicRows";
  if (isWanted.has("dynamic") || isWanted.has("dynamicRows")) {
    const choice = { ...choiceOf("dynamic", "dynamicRows"), perRow, store };
    told(quantizeDynamic(model, target, recipe.smoothing ? { ...choice, smoothing: recipe.smoothing } : choice));
  }
  // Static integers may start from a model with other weights.
  const rounded = recipe.statics === null ? recipe.rounded : undefined;
  for (const form of ["weights16", "weights8", "blocks8", "weights4"] as const) {
    if (!isWanted.has(form)) continue;
    const how = { bits: bitsOf(form), inBlocks: form === "blocks8", store, ...(rounded && { rounded }) };
    const report = quantizeWeights(model, { ...choiceOf(form), ...how });
    told(report);
    // What has no kernel that reads blocks is widened when the model is loaded, from 8 bits.
    if (form !== "blocks8" && form !== "weights4") continue;
    for (const name of report.quantized) if (!report.inBlocks.has(name)) forms.set(name, "weights8");
  }
  // Tables have no arithmetic: their integers are weights, whatever becomes of the rest.
  told(quantizeEmbeddings(model, choiceOf("static", "dynamic", "dynamicRows"), store), "weights8");
  return { forms, float, notes };
}

/**
 * What runs step by step has no static integers, and pairs around weights that others read too would store them
 * twice: where there are dynamic integers for them, those go with the static ones around.
 */
const servedAs = (form: Form, node: Node, target: IntegerTarget): Form =>
  form === "static" && (node.is("LSTM") || productWeight(node)?.isShared) && mayBeDynamic(node, target)
    ? "dynamic"
    : form;

interface Reported {
  readonly quantized: readonly string[];
  readonly float: readonly FloatNode[];
  readonly notes?: readonly string[];
}
