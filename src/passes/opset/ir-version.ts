/** The least IR version in which a model is legal: by its opset, and by what else is in it. */
import { type DType, graphsWithin, type Model, opsetOf, type Value } from "../../ir/index.js";

/** [opset, IR version]: the IR version that came with the first release of ONNX to have the opset. */
const byOpset: readonly (readonly [opset: number, irVersion: number])[] = [
  [25, 13],
  [24, 12],
  [23, 11],
  [21, 10],
  [19, 9],
  [15, 8],
  [12, 7],
  [11, 6],
  [10, 5],
];
/** Before 4, every initializer had to be an input as well; nothing is written like that. */
const LEAST = 4;

/** The IR version that brought an element type. */
const byDtype: { readonly [D in DType]?: number } = {
  f8e4m3fn: 9,
  f8e4m3fnuz: 9,
  f8e5m2: 9,
  f8e5m2fnuz: 9,
  u4: 10,
  i4: 10,
  f4e2m1: 11,
  f8e8m0: 12,
  u2: 13,
  i2: 13,
};

/** Parts of messages on the wire that only newer IR versions have. */
interface Parts {
  metadata_props?: readonly unknown[];
  readonly overload?: string;
  readonly functions?: readonly unknown[];
  readonly training_info?: readonly unknown[];
  readonly $unknowns?: readonly Uint8Array[];
}

export const irVersionOfOpset = (opset: number): number => byOpset.find(([from]) => opset >= from)?.[1] ?? LEAST;

/**
 * What the model needs by its opset, element types and the metadata of its parts. One with
 * functions, whose bodies are not read, or with parts that this program does not know,
 * keeps at least what it states.
 */
export function leastIrVersion(model: Model): number {
  const needs = new Set([irVersionOfOpset(opsetOf(model))]);
  const whole = model.extras as Parts;
  // Metadata of the model as a whole has always been there.
  if (whole.$unknowns || whole.functions?.length || whole.training_info?.length) needs.add(model.irVersion);
  for (const part of partsOf(model)) {
    if (part.type) needs.add(byDtype[part.type] ?? LEAST);
    const { metadata_props: metadata, overload, $unknowns: unknowns } = part.extras ?? {};
    if (metadata?.length || overload) needs.add(10);
    if (unknowns || part.isOpaque) needs.add(model.irVersion);
  }
  return Math.max(...needs);
}

/** Drops the notes that exporters leave at nodes and values, in place. They mean nothing to a runtime. */
export function dropPartMetadata(model: Model): void {
  for (const { extras } of partsOf(model)) if (extras?.metadata_props?.length) extras.metadata_props = [];
}

interface Part {
  readonly type?: DType | null;
  readonly extras?: Parts | null;
  readonly isOpaque?: boolean;
}

/** Everything below the model that is a message of its own. */
function* partsOf(model: Model): Generator<Part> {
  for (const graph of graphsWithin(model.graph)) {
    yield { extras: graph.extras };
    for (const each of [...graph.inputs, ...graph.constants]) yield* partsOfValue(each);
    for (const { info } of graph.outputs) yield { extras: info };
    for (const node of graph.nodes()) {
      yield { extras: node.extras };
      for (const output of node.outputs) if (output) yield* partsOfValue(output);
      for (const { type, value, extras = null } of node.attributes.values()) {
        yield { extras, isOpaque: type === "opaque" };
        if (type === "tensor") yield { type: value.dtype, extras: value.extras };
        if (type === "tensors") for (const { dtype, extras } of value) yield { type: dtype, extras };
      }
    }
  }
}

function* partsOfValue({ constant, dtype, info }: Value): Generator<Part> {
  yield { type: dtype, extras: info };
  if (constant) yield { type: constant.dtype, extras: constant.extras };
}
