/**
 * `--shape input=1,3,H,W` where a model is changed: the input's sizes become those. A number
 * settles the axis, and with it every axis of inputs and outputs that goes by the same name;
 * a name leaves the axis as it is, and names it when nobody has. Nothing else ever changes
 * the sizes that a model declares.
 */
import { InferOptError } from "../base/errors.js";
import { type Dim, formatShape, graphsWithin, type Model, type Shape } from "../ir/index.js";
import { isVagueName } from "../rewrite/match.js";
import type { ModelSignature } from "../runtime/port.js";
import { refuseUnknownShapes } from "./evaluation-data.js";
import type { ShapeFacts } from "./result.js";

/** By input: a number settles an axis, a name leaves it open. */
export type GivenShapes = ReadonlyMap<string, readonly (number | string)[]>;

interface Declared {
  readonly name: string;
  readonly shape: Shape | null;
}

/** The signature of the model with these sizes. Throws FLAG_INVALID for sizes that the model cannot take. */
export function sizedSignature(signature: ModelSignature, shapes: GivenShapes): ModelSignature {
  if (shapes.size === 0) return signature;
  refuseUnknownShapes(shapes, signature.inputs);
  const resize = resizer(signature.inputs, shapes);
  return {
    inputs: signature.inputs.map((input) => ({ ...input, shape: resize(input.shape, shapes.get(input.name)) })),
    outputs: signature.outputs.map((output) => ({ ...output, shape: resize(output.shape) })),
  };
}

/** Writes the sizes on a model's inputs, and on every value that goes by a name which they settle. */
export function fixShapes({ graph }: Model, shapes: GivenShapes): void {
  if (shapes.size === 0) return;
  const declared = graph.inputs.map(({ label, shape }) => ({ name: label, shape }));
  refuseUnknownShapes(shapes, declared);
  const resize = resizer(declared, shapes);
  for (const input of graph.inputs) {
    input.type = { dtype: input.dtype, shape: resize(input.shape, shapes.get(input.label)) };
  }
  for (const each of graphsWithin(graph)) {
    for (const node of each.nodes()) {
      for (const value of node.outputs) {
        if (value?.type) value.type = { dtype: value.type.dtype, shape: resize(value.type.shape) };
      }
    }
  }
}

/** Inputs and outputs that have other sizes than before. */
export function shapeChanges(before: Model, after: Model): readonly ShapeFacts[] {
  const now = new Map(portsOf(after).map((port) => [`${port.port} ${port.name}`, port.shape]));
  return portsOf(before).flatMap(({ port, name, shape }) => {
    const changed = now.get(`${port} ${name}`) ?? null;
    return formatShape(shape) === formatShape(changed) ? [] : [{ port, name, before: shape, after: changed }];
  });
}

const portsOf = ({ graph }: Model): readonly (Declared & Pick<ShapeFacts, "port">)[] => [
  ...graph.inputs.map(({ label, shape }) => ({ port: "input" as const, name: label, shape })),
  ...graph.outputs.map(({ name, value }) => ({ port: "output" as const, name, shape: value.shape })),
];

/** Puts sizes in the place of the names that they settle; for an input that was given some, axis by axis. */
function resizer(
  inputs: readonly Declared[],
  shapes: GivenShapes,
): (shape: Shape | null, given?: readonly (number | string)[]) => Shape | null {
  const sizes = settledNames(inputs, shapes);
  const settled = (dim: Dim): Dim => (typeof dim === "string" ? (sizes.get(dim)?.size ?? dim) : dim);
  return (shape, given) => {
    if (!shape) return given ?? null;
    return shape.map((dim, axis) => {
      const wanted = given?.[axis];
      return typeof wanted === "number" ? wanted : settled(dim ?? wanted ?? null);
    });
  };
}

function settledNames(inputs: readonly Declared[], shapes: GivenShapes): Map<string, { size: number; input: string }> {
  const sizes = new Map<string, { size: number; input: string }>();
  for (const { name, shape } of inputs) {
    const given = shapes.get(name);
    if (!given || !shape) continue;
    if (given.length !== shape.length) {
      throw refused(name, given, `has ${given.length} sizes, and the model takes ${formatShape(shape)}`);
    }
    for (const [axis, dim] of shape.entries()) {
      const size = given[axis]!;
      if (typeof dim === "number" && size !== dim) {
        throw refused(name, given, `has ${size} on axis ${axis}, where the model fixes ${dim}`);
      }
      if (typeof dim !== "string" || typeof size !== "number" || isVagueName(dim)) continue;
      const other = sizes.get(dim);
      if (other && other.size !== size) {
        throw refused(name, given, `makes ${dim} ${size}, and the shape of "${other.input}" makes it ${other.size}`);
      }
      sizes.set(dim, { size, input: name });
    }
  }
  return sizes;
}

const refused = (input: string, given: readonly (number | string)[], problem: string): InferOptError =>
  new InferOptError("FLAG_INVALID", "usage", `--shape: ${input}=${given.join(",")} ${problem}`, {
    hint: "Give a size or a name for each axis, keep those that the model fixes, and one size for each name.",
    fields: { flag: "--shape", value: input, given },
  });
