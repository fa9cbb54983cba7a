/**
 * What becomes of each node: one form for most, and others by name. Plain data, so that a
 * search can move nodes between forms; `applyRecipe` makes it true of a graph.
 */
import { ownEntry } from "../base/own-entry.js";
import { type Model, type Node, nodesWithin } from "../ir/index.js";
import type { RangeMethod } from "../observe/index.js";
import { weightInputs } from "../target/integer-kernels.js";
import { isLookUp } from "./embedding.js";
import { type Form, type Mode, modeOf } from "./form.js";
import type { InputMoments } from "./inputs/round-in-view.js";
import type { OutputLine } from "./outputs/output-line.js";
import type { Placement } from "./plan-static.js";
import type { WeightTensors } from "./weight-store.js";

/** What the operators of each form came with. A model that cannot be converted so far stays without. */
export const LEAST_OPSET = { static: 13, dynamic: 11, weights: 7 } as const;

/** How the static part is done. */
export interface StaticChoice {
  readonly placement: Placement;
  readonly method: RangeMethod;
  /** By value label: tensors whose range is chosen in another way. */
  readonly methods?: ReadonlyMap<string, RangeMethod>;
  /** By value label: of activations, for the weights that meet them to be rounded with them in view. */
  readonly inputs?: ReadonlyMap<string, InputMoments>;
}

export interface Recipe {
  /** Of each node with weights that `forms` does not name. */
  readonly form: Form;
  /** By node name; a node without weights can only be `static` (as it is by default) or `float`. */
  readonly forms: ReadonlyMap<string, Form>;
  /** Null where no node is static. */
  readonly statics: StaticChoice | null;
  /** By value label: what the channels of dynamic activations are divided by. */
  readonly smoothing?: ReadonlyMap<string, Float32Array>;
  /** By `blocksKey`: a weight's blocks of 4 bits, rounded with the inputs in view. */
  readonly rounded?: ReadonlyMap<string, WeightTensors>;
  /** By node name: what the weights and the bias of a last product are corrected by. */
  readonly lines?: ReadonlyMap<string, OutputLine>;
}

/** Of a value's range. */
export const methodFor = ({ method, methods }: StaticChoice, label: string): RangeMethod =>
  methods?.get(label) ?? method;

/** The range methods in use, the main one first. */
export const methodsOf = ({ method, methods }: StaticChoice): string =>
  [...new Set([method, ...(methods?.values() ?? [])])].join("/");

export const staticRecipe = (statics: StaticChoice): Recipe => ({ form: "static", forms: new Map(), statics });

/** The same form for all nodes. */
export const uniformRecipe = (form: Exclude<Form, "static">): Recipe => ({ form, forms: new Map(), statics: null });

/** Dynamic integers, as tuned to activations. */
export const tunedRecipe = ({
  forms,
  smoothing,
}: Pick<Recipe, "forms"> & { smoothing: Recipe["smoothing"] }): Recipe => ({
  ...uniformRecipe("dynamic"),
  forms,
  ...(smoothing && smoothing.size > 0 && { smoothing }),
});

/** The recipe with some nodes in other forms. */
export const withForms = (recipe: Recipe, forms: ReadonlyMap<string, Form>): Recipe => ({
  ...recipe,
  forms: new Map([...recipe.forms, ...forms]),
});

/** What the recipe wants of a node. Whether it can be done, the quantizers say. */
export function formOf({ form, forms }: Recipe, node: Node): Form {
  const own = forms.get(node.name);
  if (own) return own;
  const carriesWeights = (node.domain === "" && ownEntry(weightInputs, node.op) !== undefined) || isLookUp(node);
  return carriesWeights ? form : "static";
}

/** One mode for a file whose nodes have these forms. Tables, which are stored in their own way, do not make it a mixture. */
export function modeOfFile(recipe: Recipe, made: Iterable<Form>): Mode {
  const present = new Set(made);
  const wanted = [recipe.form, "dynamic" as const, ...recipe.forms.values()].filter((form) => present.has(form));
  const modes = new Set(wanted.map(modeOf));
  return modes.size > 1 ? "mixed" : (modes.values().next().value ?? modeOf(recipe.form));
}

/** Operators that compute in float whatever their weights are stored as, and often on states that keep errors. */
const floatKernels = new Set(["Conv", "ConvTranspose", "LSTM", "GRU", "RNN"]);

/**
 * Weights as integers without a look at accuracy: so many bits for products and tables, and
 * 16 where a few wrong digits may grow, as in convolutions and recurrent operators.
 */
export function carefulWeights(model: Model, bits: 8 | 4): Recipe {
  const nodes = [...nodesWithin(model.graph)].filter(({ domain, op }) => domain === "" && floatKernels.has(op));
  return withForms(uniformRecipe(`weights${bits}`), new Map(nodes.map(({ name }) => [name, "weights16"])));
}
