/**
 * A ConvTranspose on integers, where the target has none, as a Conv of several outputs for each place, which are put next to
 * each other as integers, behind Q (target/sub-pixel.ts):
 *
 *   x -> ConvTranspose(W) -> [Relu] -> Q -> DQ
 *   => x -> Conv(W') -> [Relu] -> Q -> Transpose -> Reshape -> Transpose -> Reshape -> [Slice] -> Transpose -> DQ
 *
 * DepthToSpace of floats does the same element by element, and takes longer than the float ConvTranspose.
 */
import { attr, elementCount, type Node, type Shape, Tensor, type TensorType, type Value } from "../ir/index.js";
import type { IntegerTarget } from "../target/integer-kernel.js";
import { type SubPixel, subPixelOf } from "../target/sub-pixel.js";
import { IntegerMoves } from "./integer-moves.js";
import type { KeptIntegers } from "./kept-integers.js";
import type { PlannedNode } from "./plan-static.js";

/** What is done to the integers of a value before anybody reads them. */
export interface Interleaving {
  readonly form: SubPixel;
  /** Of the value as the Conv makes it; until it is quantized, the value has the type that its readers know. */
  readonly places: TensorType;
}

export interface SubPixelConvs {
  readonly nodes: readonly PlannedNode[];
  /** By the value that is quantized: it has one place for several until then. */
  readonly interleaved: ReadonlyMap<Value, Interleaving>;
}

/** Writes each ConvTranspose among nodes that are to be integers as a Conv, which stands in its place then. */
export function subPixelConvs(
  planned: readonly PlannedNode[],
  target: IntegerTarget,
  kept: KeptIntegers,
): SubPixelConvs {
  const interleaved = new Map<Value, Interleaving>();
  const weights = new Rearranged(kept);
  const nodes = planned.map((each): PlannedNode => {
    const form = becomesConv(each.node, target) ? subPixelOf(each.node) : null;
    if (!form) return each;
    const old = each.node.output;
    const conv = asConv(each.node, form, weights);
    const outputs = each.outputs.map((value) => (value === old ? conv.output : value));
    const places = conv.output.type!;
    for (const value of outputs) interleaved.set(value, { form, places });
    if (outputs.includes(conv.output)) conv.output.type = old.type;
    return { ...each, node: conv, outputs };
  });
  return { nodes, interleaved };
}

/** Whether the target has integers for it as a Conv alone. */
export const becomesConv = (node: Node, { isMeasurable }: IntegerTarget): boolean =>
  isMeasurable && node.is("ConvTranspose");

function asConv(node: Node, form: SubPixel, weights: Rearranged): Node {
  const { graph, name, output, provenance } = node;
  const [input, weight, bias] = node.inputs;
  const { strides, pads, kernel } = form;
  const places = weights.of(weight!, form);
  const inputs = [input!, places];
  if (bias) inputs.push(graph.addConstant(`${bias.label}/places`, repeated(bias.constant!, elementCount(strides))));
  const { label, dtype } = output;
  const shape = [input!.shape![0]!, places.shape![0]!, ...placesOf(input!.shape!, form)];
  const attributes = { kernel_shape: attr.ints(kernel), pads: attr.ints(pads) };
  const type = { dtype, shape };
  const conv = graph.addNode({ op: "Conv", name, inputs, attributes, outputs: [{ label, type }], provenance }, node);
  graph.replaceUses(output, conv.output);
  graph.removeNode(node);
  return conv;
}

/** Weights of a ConvTranspose as those of its Conv: once for all that share them and have the same strides. */
class Rearranged {
  readonly #made = new Map<Value, Map<string, Value>>();

  constructor(readonly kept: KeptIntegers) {}

  of(weight: Value, form: SubPixel): Value {
    const made = this.#made.get(weight) ?? new Map<string, Value>();
    this.#made.set(weight, made);
    // The kernel follows from the window and the strides.
    const key = form.strides.join();
    const known = made.get(key);
    if (known) return known;
    const tensor = this.kept.rearranged(weight.constant!, `sub-pixel by ${key}`, () =>
      rearranged(weight.constant!, form),
    );
    const value = weight.graph.addConstant(`${weight.label}/places`, tensor);
    made.set(key, value);
    return value;
  }
}

/** Spatial sizes of what the Conv makes. */
const placesOf = (shape: Shape, { kernel, pads }: SubPixel): Shape =>
  kernel.map((size, axis) => {
    const dim = shape[axis + 2]!;
    return typeof dim === "number" ? dim + pads[axis]! + pads[kernel.length + axis]! - size + 1 : null;
  });

function repeated(tensor: Tensor, times: number): Tensor {
  const values = tensor.f32();
  const all = new Float32Array(values.length * times);
  for (let i = 0; i < times; i++) all.set(values, i * values.length);
  return Tensor.f32([all.length], all);
}

/**
 * From [inputs, channels, ...window] to [(...strides, channels), inputs, ...kernel]. An output at place `p * stride + i` of
 * an axis reads input `p - a` by the weight at `a * stride + i`: taps run the other way.
 */
function rearranged(weight: Tensor, { strides, kernel }: SubPixel): Tensor {
  const [inputs, channels, ...window] = weight.dims as [number, number, ...number[]];
  const [from, taps, phases] = [elementCount(window), elementCount(kernel), elementCount(strides)];
  const source = weight.f32();
  const made = new Float32Array(phases * channels * inputs * taps);
  for (let at = 0; at < from; at++) {
    let [rest, phase, tap, stride, size] = [at, 0, 0, 1, 1];
    for (let axis = window.length - 1; axis >= 0; axis--) {
      const place = rest % window[axis]!;
      rest = (rest - place) / window[axis]!;
      phase += (place % strides[axis]!) * stride;
      tap += (kernel[axis]! - 1 - Math.floor(place / strides[axis]!)) * size;
      stride *= strides[axis]!;
      size *= kernel[axis]!;
    }
    for (let input = 0; input < inputs; input++) {
      for (let channel = 0; channel < channels; channel++) {
        const row = phase * channels + channel;
        made[(row * inputs + input) * taps + tap] = source[(input * channels + channel) * from + at]!;
      }
    }
  }
  return Tensor.f32([phases * channels, inputs, ...kernel], made);
}

/** Puts integers of several outputs for each place next to each other, to a tensor of `shape`; `name` is that of what the kernel ends with. */
export function interleave(
  places: Value,
  form: Pick<SubPixel, "strides" | "channels" | "cutBefore" | "cutBehind">,
  shape: Shape | null,
  name: string,
  before: Node | null,
): Value {
  const { strides, channels, cutBefore, cutBehind } = form;
  if (strides.every((stride) => stride === 1)) return places;
  const moves = new IntegerMoves(places, name, before);
  const whole = moves.sizes(strides, channels);
  const [outer, last] = [strides.slice(0, -1), strides.at(-1)!];
  if (outer.some((stride) => stride > 1)) {
    const rank = strides.length;
    moves.reshapeTo("_apart", [0, ...strides.map(() => 0), ...outer, last * channels]);
    moves.transpose("_together", [0, ...outer.flatMap((_, axis) => [axis + 1, axis + 1 + rank]), rank, 2 * rank]);
  }
  moves.reshape("_together", whole);
  moves.cut(cutBefore, cutBehind);
  return moves.end(shape);
}
