/**
 * Two models made of a student and its teacher: `step` sees a batch and gives better weights, `check` says how far the
 * student is from the teacher. Weights and Adam's moments go in and come out, so that they can be carried from step to step.
 */
import { Graph, isStatic, type Model, opsetOf, type Shape, Tensor, type Value } from "../../ir/index.js";
import { annotateTypes, copyConstant, copyNode, type Describe, type Evaluate } from "../../rewrite/index.js";
import { adamStep } from "./adam.js";
import { type Augmentation, augment, type ImageSizes } from "./augment.js";
import { backpropagate } from "./backpropagate.js";
import { completeSizes } from "./complete-sizes.js";
import { distance } from "./distance.js";
import { Formula } from "./formula.js";
import { parametersOf } from "./parameters.js";

export const LOSS = "recover/loss";
export const RATE = "recover/rate";
/** The output that holds what an input becomes for the next step. */
const nextOf = (input: string): string => `${input}/next`;

export interface TrainingModels {
  readonly step: Model;
  readonly check: Model;
  /** By name of the input that stands for it: the student's constant. */
  readonly parameters: ReadonlyMap<string, Value>;
  /** What the first step starts from: weights as they are (also those that never change), moments of zeros. */
  readonly state: ReadonlyMap<string, Tensor>;
  /** Of the state, what changes, with the output of `step` that holds what it becomes. */
  readonly carried: Readonly<Record<string, string>>;
  /** Sizes of the images that are moved about; null where there are none. */
  readonly images: ImageSizes | null;
  /** Nodes of the student that no gradient passes, and why. */
  readonly blocked: ReadonlyMap<string, string>;
}

export interface TrainingRequest {
  readonly student: Model;
  /** Of the same inputs and outputs. */
  readonly teacher: Model;
  /** Sizes of a batch, by input. */
  readonly sizes: ReadonlyMap<string, Shape>;
  readonly describe: Describe;
  readonly evaluate: Evaluate;
}

/** Older opsets lack what gradients are written in. */
const LEAST_OPSET = 16;

/** Resolves to a reason, in words, where nothing can be learned. */
export async function trainingModels(request: TrainingRequest): Promise<TrainingModels | { readonly reason: string }> {
  if (opsetOf(request.student) < LEAST_OPSET) return { reason: `its opset is below ${LEAST_OPSET}` };
  const names = new Map(parametersOf(request.student.graph).map((weight, i) => [weight, `recover/${i}`]));
  const learner = await both(request, true, names);
  if ("reason" in learner) return learner;
  const { model, f, parameters, pairs } = learner;
  const { graph } = model;
  const { loss, seeds } = distance(f, pairs);
  const wanted = new Set(parameters.keys());
  const { gradients, blocked } = backpropagate(graph, seeds, wanted, f);
  if (gradients.size === 0) {
    const [first] = blocked;
    return {
      reason: first ? `no gradient passes ${first[0].displayName}: ${first[1]}` : "there is nothing in it to learn",
    };
  }
  const rate = graph.addInput(RATE, { dtype: "f32", shape: [] });
  const state = new Map([...parameters].map(([{ label }, { constant }]) => [label, constant!]));
  const carried: Record<string, string> = {};
  const learned = new Map<string, Value>();
  for (const [weight, gradient] of gradients) {
    const original = parameters.get(weight)!;
    const type = weight.type!;
    const zeros = Tensor.f32(original.constant!.dims, new Float32Array(original.constant!.elementCount));
    const moment = (which: string): Value => {
      const name = `${weight.label}/${which}`;
      state.set(name, zeros);
      return graph.addInput(name, type);
    };
    learned.set(weight.label, original);
    const before = { weight, first: moment("m"), second: moment("v") };
    const after = adamStep(f, before, gradient, rate);
    for (const part of ["weight", "first", "second"] as const) {
      const { label } = before[part];
      carried[label] = nextOf(label);
      graph.addOutput(nextOf(label), after[part]);
    }
  }
  graph.addOutput(LOSS, loss);

  const watcher = await both(request, false, new Map([...learned].map(([name, weight]) => [weight, name])));
  if ("reason" in watcher) return watcher;
  watcher.model.graph.addOutput(LOSS, distance(watcher.f, watcher.pairs).loss);
  return {
    step: model,
    check: watcher.model,
    parameters: learned,
    state,
    carried,
    images: learner.augmentation.images,
    blocked: new Map([...blocked].map(([node, reason]) => [node.displayName, reason])),
  };
}

interface Both {
  readonly model: Model;
  readonly f: Formula;
  /** By input: the student's constant in whose place it stands. */
  readonly parameters: ReadonlyMap<Value, Value>;
  readonly pairs: readonly (readonly [Value, Value])[];
  readonly augmentation: Augmentation;
}

/** Student and teacher side by side on the same inputs, types written, the student's weights as inputs. */
async function both(
  { student, teacher, sizes, describe, evaluate }: TrainingRequest,
  isAugmented: boolean,
  /** Of inputs that take the place of the student's constants. */
  names: ReadonlyMap<Value, string>,
): Promise<Both | { readonly reason: string }> {
  const graph = new Graph();
  const f = new Formula(graph, "recover/");
  const inputs = new Map(
    student.graph.inputs.map((input) => {
      const shape = sizes.get(input.label) ?? input.origin.defaultTensor?.dims ?? input.shape;
      return [input.label, graph.addInput(input.label, { dtype: input.dtype, shape }, input.origin)];
    }),
  );
  if ([...inputs.values()].some(({ shape }) => !isStatic(shape))) return { reason: "sizes of its inputs are open" };
  // A default is the same for every image.
  const fed = [...inputs.values()].filter(({ hasDefault }) => !hasDefault);
  const augmentation = isAugmented
    ? augment(graph, fed, f, opsetOf(student))
    : { values: new Map<Value, Value>(), images: null };
  const parameters = new Map<Value, Value>();
  const copy = (source: Model, isStudent: boolean): ReadonlyMap<Value, Value> => {
    const values = new Map<Value, Value>();
    for (const input of source.graph.inputs) {
      const twin = inputs.get(input.label)!;
      values.set(input, augmentation.values.get(twin) ?? twin);
    }
    for (const constant of source.graph.constants) {
      const name = isStudent ? names.get(constant) : undefined;
      if (name !== undefined) {
        const { dtype, dims } = constant.constant!;
        const stand = graph.addInput(name, { dtype, shape: dims });
        parameters.set(stand, constant);
        values.set(constant, stand);
      } else values.set(constant, copyConstant(constant, graph));
    }
    for (const node of source.graph.nodes()) {
      const twin = copyNode(node, graph, values);
      // The runtime takes no name twice; the student's are those that reports name.
      if (!isStudent && twin.name) twin.name = `recover/teacher/${twin.name}`;
    }
    return values;
  };
  const [own, taught] = [copy(student, true), copy(teacher, false)];
  const model: Model = { ...student, graph, functions: new Set([...student.functions, ...teacher.functions]) };
  const { problem } = await annotateTypes(model, describe);
  if (problem !== null) return { reason: `the runtime does not take it with a batch of these sizes: ${problem}` };
  await completeSizes(model, evaluate);
  const wanted = new Map(teacher.graph.outputs.map(({ name, value }) => [name, taught.get(value)!]));
  const pairs = student.graph.outputs.flatMap(({ name, value }): [Value, Value][] => {
    const [a, b] = [own.get(value)!, wanted.get(name)];
    return b && a.dtype === "f32" && isStatic(a.shape) && isStatic(b.shape) ? [[a, b]] : [];
  });
  return pairs.length === 0
    ? { reason: "none of its outputs is float32 of known sizes" }
    : { model, f, parameters, pairs, augmentation };
}
