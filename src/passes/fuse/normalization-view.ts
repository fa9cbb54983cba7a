/**
 * Normalizations of another view of a tensor: flattened, or in another type.
 *
 *   Reshape(LayerNormalization<axis=-1>(Flatten<k>(x), g, b), shape of x)  =>  LayerNormalization<axis=k>(x, g', b')
 *   Cast<f16>(LayerNormalization(Cast<f32>(x: f16), 1))                    =>  LayerNormalization(x, 1)
 *
 * the second because the operator does by itself what the Casts say: it works in float32 (its
 * `stash_type`), makes the result a float16 and multiplies by the factor then. RMSNormalization likewise.
 */
import { type Attribute, attr, dtypeOfCode, elementCount, type Node, soleReader, type Value } from "../../ir/index.js";
import { defineRewrite } from "../../rewrite/index.js";
import { equalsElementwise, producerOf, readsOnlyFirst, soleProducer } from "../../rewrite/match.js";
import { tensorLike } from "./computed-tensor.js";
import { areKnown, layoutOf } from "./normalization-layout.js";

const soleNorm = (value: Value | null | undefined): Node | null =>
  soleProducer(value, "LayerNormalization") ?? soleProducer(value, "RMSNormalization");

export const fuseNormalizationReshape = defineRewrite({
  name: "fuse-normalization-reshape",
  summary: "Normalize over several axes instead of over flattened ones",
  numerics: "rounding",
  roots: ["Reshape"],
  minOpset: 17,
  rewrite(root, { create, constant, alsoReplace }) {
    const norm = normOf(root.inputs[0]);
    const layout = norm && layoutOf(norm);
    const view = layout?.x.producer;
    const x = view?.inputs[0];
    if (!norm || !layout || !x || view?.graph !== root.graph || !(view.is("Flatten") || view.is("Reshape")))
      return null;
    const [shape, flat, back] = [x.shape, layout.x.shape, root.output.shape];
    if (!shape || !flat || !back || !areKnown(shape) || !areKnown(flat) || String(shape) !== String(back)) return null;
    const count = elementCount(layout.dims);
    const axis = shape.findIndex((_, i) => elementCount(shape.slice(i)) === count);
    if (axis < 0 || count === 0 || elementCount(shape) !== elementCount(flat)) return null;
    const dims = shape.slice(axis);
    const statistics = statisticsOf(norm, [...shape.slice(0, axis), ...dims.map(() => 1)]);
    const vectors = norm.inputs.slice(1).map((value) => {
      if (!value?.constant) return value && unreshaped(value, dims, statistics?.length !== 0);
      // An addend of fewer elements would be repeated along the flattened axis.
      return value.constant.elementCount === count ? constant(value.label, value.constant.withDims(dims)) : null;
    });
    if (!statistics || vectors.some((value) => value === null)) return null;
    const attributes = new Map<string, Attribute>(norm.attributes).set("axis", attr.int(axis - shape.length));
    if (statistics.length === 0) return create(norm.op, [x, ...vectors], attributes);
    const results = [root.output, ...statistics];
    const made = create(norm.op, [x, ...vectors], attributes, {
      labels: results.map((value) => value?.label ?? null),
      types: results.map((value) => value?.type ?? null),
      before: norm,
    });
    statistics.forEach((value, i) => {
      if (value) alsoReplace(value, made.outputs[i + 1]!);
    });
    return [made.output];
  },
});

/** The normalization that makes a value for one reader; its statistics may have others. */
const normOf = (value: Value | null | undefined): Node | null =>
  value && soleReader(value)
    ? (producerOf(value, "LayerNormalization", value.graph) ?? producerOf(value, "RMSNormalization", value.graph))
    : null;

/** The statistics in the shape `dims`, as they are or reshaped: a list of them, empty where nobody reads any; null where others read them. */
function statisticsOf(norm: Node, dims: readonly number[]): (Value | null)[] | null {
  if (readsOnlyFirst(norm)) return [];
  const views = norm.outputs.slice(1).map((output) => {
    if (!output || output.useCount === 0) return null;
    if (String(output.shape) === String(dims)) return output;
    const reader = soleReader(output);
    return reader?.is("Reshape") && String(reader.output.shape) === String(dims) ? reader.output : undefined;
  });
  return views.every((value) => value !== undefined) ? views : null;
}

/** The tensor of these dimensions that a value is, or is a Reshape of; a graph input where it must be there early. */
function unreshaped(value: Value, dims: readonly number[], isEarly: boolean): Value | null {
  const source = soleProducer(value, "Reshape")?.inputs[0];
  const found = [value, source].find((each) => String(each?.shape) === String(dims));
  return found && (!isEarly || found.isGraphInput) ? found : null;
}

export const fuseNormalizationCast = defineRewrite({
  name: "fuse-normalization-cast",
  summary: "Leave it to a normalization to work in float32 between two Casts",
  numerics: "rounding",
  roots: ["Cast"],
  minOpset: 17,
  rewrite(root, { create, constant }) {
    const norm = soleNorm(root.inputs[0]);
    const factor = norm?.inputs[1];
    const x = producerOf(norm?.inputs[0], "Cast", root.graph)?.inputs[0];
    if (!norm || !factor?.shape || !x || norm.inputs[2] || norm.int("stash_type", 1) !== 1) return null;
    const isIsland = x.dtype === "f16" && dtypeOfCode(root.int("to", 0)) === "f16" && factor.dtype === "f32";
    if (!isIsland || !areKnown(factor.shape) || !equalsElementwise(factor, 1)) return null;
    const ones = tensorLike("f16", factor.shape, new Float32Array(elementCount(factor.shape)).fill(1))!;
    const attributes: ReadonlyMap<string, Attribute> = norm.attributes;
    return create(norm.op, [x, constant(factor.label, ones)], attributes);
  },
});
