/**
 * What a node takes in float and as static integers, by its shape. Which regions of a model pay as
 * integers follows from these numbers alone, so the same model gets the same integers each time,
 * whatever else the machine does; the profile of two models would flip whatever lies on the edge.
 *
 * Each kernel is a sum of a few terms: multiplications, with what is padded to whole vectors among them;
 * elements written; pointers to what a window reads; weights, where they do not stay in the cache from run
 * to run; what a call takes. What each of them takes on a kind of processor stands in kernel-rates.ts. Only
 * ratios are used, and they hold for other processors of the kind, whose kernels are faster or slower together.
 */
import { greatestCommonDivisor } from "../base/greatest-common-divisor.js";
import { ownEntry } from "../base/own-entry.js";
import { elementCount, isStatic, type Node, type Shape, type Value } from "../ir/index.js";
import { channelRegionOf, weightOf } from "./channel-region.js";
import type { KernelRates } from "./kernel-rates.js";
import { scalingOf } from "./scaling.js";
import { subPixelOf } from "./sub-pixel.js";
import { repeatsOf } from "./whole-resize.js";
import { windowMeanOf, windowSize } from "./window-mean.js";

/** Elements of one sample that a node reads as activations, of the largest of them, and that it makes. */
export interface NodeElements {
  readonly read: number;
  /** The smallest of those that it reads; as large as `read` where there is one. */
  readonly least: number;
  /** 0 where that is not known: then it is told from what is read. */
  readonly made: number;
  /** Of all weights of the model: few of them are still near when they are read again. */
  readonly weights: number;
  /** Whether the integers that it reads lie with their channels first, as no integer Conv leaves them. */
  readonly channelsFirst?: boolean;
}

export interface KernelTime {
  readonly floatMs: number;
  readonly integerMs: number;
}

export interface KernelTimes {
  /** Null for what is not in the table. */
  readonly node: (node: Node, elements: NodeElements) => KernelTime | null;
  /**
   * What converting a tensor between integers and float takes.
   *
   * @param integer what makes the region integers that is at the one end
   * @param floats at the other end: what makes the tensor, or what reads it; none where it is an input or output
   */
  readonly conversionMs: (elements: number, integer: Node, floats: readonly Node[]) => number;
  /** What an activation takes that float kernels compute on the way, and integer ones leave to others. */
  readonly activationMs: (activation: Node, elements: number) => number;
  /** Input channels that a Conv is best given as integers: its own, or more, with zeros for weights. */
  readonly paddedDepth: (conv: Node) => number;
  /** Channels that a depthwise Conv is best given as integers: its own, or more, with zeros for weights. */
  readonly widened: (depthwise: Node) => number;
}

export const kernelTimesBy = (rates: KernelRates): KernelTimes => ({
  node: (node, elements) => nodeTime(rates, node, elements),
  conversionMs: (elements, integer, floats) => conversionMs(rates, elements, integer, floats),
  activationMs: (activation, elements) => activationMs(rates, activation, elements),
  paddedDepth: (conv) => paddedDepth(rates, conv),
  widened: (depthwise) => widenedChannels(rates, depthwise),
});

/** Values in one vector of an integer kernel: it works on whole ones. */
const LANES = 16;
/** Products that are added up at once. */
const QUADS = 4;

const padded = (count: number, to: number): number => Math.ceil(count / to) * to;

/** Nanoseconds. */
const fromNanos = (floatNs: number, integerNs: number): KernelTime => ({
  floatMs: floatNs * 1e-6,
  integerMs: integerNs * 1e-6,
});

/** They hand on what they get. */
const free = new Set(["Reshape", "Flatten", "Squeeze", "Unsqueeze"]);

function nodeTime(rates: KernelRates, node: Node, elements: NodeElements): KernelTime | null {
  if (node.domain !== "" || elements.read <= 0) return null;
  if (node.op === "Conv") return convolution(rates, node, elements);
  if (node.op === "ConvTranspose") return transposedConvolution(rates, node, elements);
  if (node.op === "MatMul" || node.op === "Gemm") return product(rates, node, elements);
  if (free.has(node.op)) return fromNanos(0, 0);
  if (scalingOf(node)) return fromNanos(rates.otherCall[0] + rates.others["Mul"]![0] * elements.read, 0);
  if (node.op === "AveragePool") return average(rates, node, elements);
  const [float, integer] =
    (repeatsOf(node) && rates.repeated) ||
    (isAlone(node, elements) && ownEntry(rates.alone, node.op)) ||
    ownEntry(rates.others, node.op) ||
    [];
  if (float === undefined || integer === undefined) return null;
  const most = Math.max(elements.read, elements.made);
  const [floatCall, integerCall] = rates.otherCall;
  const isByPlanes = node.op === "MaxPool" && elements.channelsFirst;
  return fromNanos(
    floatCall + float * most,
    integerCall + (isByPlanes ? byPlanesNs(rates, node, elements) : integer * most),
  );
}

/**
 * In integers a Conv of each channel by itself (window-mean.ts), or each window is added up element by element, as it is in
 * float where rows of the result are one element long.
 */
function average(rates: KernelRates, node: Node, elements: NodeElements) {
  const { float, integer } = rates.average;
  const { otherCall, productCall } = rates;
  const kernel = node.ints("kernel_shape") ?? [];
  const written = elementsWritten(node, elements);
  const isColumn = node.output.shape?.at(-1) === 1;
  const nanos = ({ written: each, taps, tapsOfColumn }: typeof float): number =>
    (each + (isColumn ? tapsOfColumn : taps) * elementCount(kernel)) * written;
  const floatNs = otherCall[0] + nanos(float);
  const window = windowMeanOf(node);
  if (!window) return fromNanos(floatNs, otherCall[1] + nanos(integer));
  const places = written / window.channels;
  return fromNanos(floatNs, productCall[1] + integerDepthwiseNs(rates, places, window.channels, windowSize(window)));
}

/** Of a MaxPool of integers whose channels do not lie last: its kernel takes each place of a window by itself. */
const byPlanesNs = (rates: KernelRates, node: Node, elements: NodeElements): number =>
  rates.maxByPlanes * elementCount(node.ints("kernel_shape") ?? []) * elementsWritten(node, elements);

/** Of a pool, by its strides where that is not known. */
function elementsWritten(node: Node, { read, made }: NodeElements): number {
  if (made > 0) return made;
  return read / elementCount(node.ints("strides") ?? (node.ints("kernel_shape") ?? []).map(() => 1));
}

/** Of a Conv of each channel by itself: whole vectors of channels have a kernel of their own. */
function integerDepthwiseNs({ depthwise }: KernelRates, places: number, channels: number, taps: number): number {
  const { products, unaligned, written, window, pointers } = depthwise.integer;
  const isAligned = channels % LANES === 0;
  return (
    products * places * padded(channels, LANES) * taps +
    (isAligned ? 0 : unaligned) * places * channels * taps +
    written * places * channels +
    (window + pointers * taps) * places
  );
}

/** Whether no convolution adds it up on its way, or no operand is spread over the other. */
function isAlone({ op, inputs }: Node, { read, least }: NodeElements): boolean {
  if (op === "Add") return !inputs.some((value) => value?.producer?.is("Conv"));
  return least === read && !inputs.some((value) => value?.constant && value.constant.elementCount > 1);
}

/** In float they have channels in blocks of whole vectors; integer convolutions have them last. */
const inBlocks = /^(Conv|MaxPool|AveragePool|GlobalAveragePool|GlobalMaxPool)$/;

function conversionMs(
  { node, converted, moved, blocked }: KernelRates,
  elements: number,
  integer: Node,
  floats: readonly Node[],
): number {
  const isMoved = integer.is("Conv") || windowMeanOf(integer) !== null;
  const isBlocked = isMoved && floats.some(({ domain, op }) => domain === "" && inBlocks.test(op));
  const crowded = isMoved ? crowding(mapOf(integer, elements)) : 1;
  const rates = [converted, ...(isMoved ? [moved * crowded] : []), ...(isBlocked ? [blocked] : [])];
  return rates.reduce((sum, rate) => sum + node + rate * elements, 0) * 1e-6;
}

/**
 * Channels and places of an image that is converted, by what a Conv reads or makes; null where neither has so many elements, and
 * what it reads where both have.
 */
function mapOf({ inputs, output }: Node, elements: number): readonly [channels: number, places: number] | null {
  for (const value of [inputs[0], output]) {
    const dims: Shape = value?.shape?.slice(1) ?? [];
    if (dims.length !== 3 || !isStatic(dims) || elementCount(dims) !== elements) continue;
    return [dims[0]!, elementCount(dims.slice(1))];
  }
  return null;
}

/** Bytes of a line of the first cache, and its sets: lines whose addresses are that many lines apart share one. */
const [LINE, SETS] = [64, 64];

/**
 * So many times as long it takes to put channels last that lie a multiple of many lines apart, as those of 64x64 do: they crowd into
 * few sets of the first cache and drive each other out. Fitted to Transposes of 8 bits, of 8 to 256 channels, on a Zen 5.
 */
function crowding(map: ReturnType<typeof mapOf>): number {
  if (!map || map[1] % LINE !== 0) return 1;
  const [channels, places] = map;
  const sets = SETS / greatestCommonDivisor(places / LINE, SETS);
  return Math.max(1, Math.min(6.5 / Math.sqrt(sets), 1 + (channels / sets - 8) / 10));
}

function activationMs({ node, activations }: KernelRates, { domain, op }: Node, elements: number): number {
  const [nodes, rate] = (domain === "" && ownEntry(activations, op)) || [0, 0];
  return (nodes * node + rate * elements) * 1e-6;
}

/** Windows of each channel, those of groups, and those of all channels have different inner loops. */
function convolution(rates: KernelRates, node: Node, { read, made, weights: all }: NodeElements): KernelTime | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (!dims || dims.length < 3 || elementCount(dims) === 0) return null;
  const [channels, depth, ...kernel] = dims as [number, number, ...number[]];
  const groups = node.int("group", 1);
  const strides = node.ints("strides") ?? kernel.map(() => 1);
  const taps = elementCount(kernel);
  const places = made > 0 ? made / channels : read / (depth * groups) / elementCount(strides);
  const written = places * channels;
  const weights = elementCount(dims);
  const isFloatFar = isFar(rates, all, 4);
  const lanes = places * padded(channels, rates.floatLanes);
  const [floatCall, integerCall] = rates.productCall;
  if (groups > 1 && depth === 1) {
    const { float } = rates.depthwise;
    // Windows that reach over the sides of the image are taken one by one.
    const atSides = Math.min(1, (Math.sqrt(taps) - 1) / Math.sqrt(places * elementCount(strides)));
    return fromNanos(
      floatCall +
        (float.products + atSides * float.productsAtSides) * lanes * taps +
        ((isFloatFar ? float.lanesFar : float.lanes) + atSides * float.lanesAtSides) * lanes +
        float.read * read,
      integerCall + integerDepthwiseNs(rates, places, widenedChannels(rates, node), taps),
    );
  }
  // A point reads its inputs where they lie; a window has a pointer to each of its places, or copies of them.
  const isPoint = taps === 1 && elementCount(strides) === 1;
  const farNs = farWeights(rates, weights, all);
  if (groups > 1) {
    const isBlocked = [depth, channels / groups].every((count) => count % rates.floatLanes === 0);
    const float = isBlocked ? rates.grouped.blocked : rates.grouped.gathered;
    const { integer } = rates.grouped;
    const multiplied = groups * places * padded(channels / groups, LANES) * padded(depth * taps, QUADS);
    return fromNanos(
      floatCall +
        float.products * written * depth * taps +
        (float.windows + float.groups * groups + float.copied * depth * groups) * places * taps +
        float.read * read * taps +
        farNs.float,
      integerCall +
        integer.products * multiplied +
        integer.written * written +
        places * groups * (integer.windows + integer.pointers * taps) +
        integer.read * read +
        farNs.integer,
    );
  }
  const sets = places * Math.ceil(channels / CHANNELS_AT_ONCE);
  const { short, long } = rates.dense;
  const floatNs =
    depth < LANES
      ? (short.products * lanes + short.sets * sets) * depth * taps +
        short.inputs * lanes * depth +
        (isFloatFar ? short.lanesFar : short.lanes) * lanes +
        short.read * read
      : (long.products * lanes + long.sets * sets) * padded(depth, rates.floatLanes) * taps + long.lanes * lanes;
  const integerNs = places * integerPlaceNs(rates, channels, depth, taps, isPoint);
  return fromNanos(floatCall + floatNs + farNs.float, integerCall + integerNs + farNs.integer);
}

/** As integers a Conv of as many outputs for each place as strides have, and these put next to each other. */
function transposedConvolution(
  rates: KernelRates,
  node: Node,
  { read, weights: all }: NodeElements,
): KernelTime | null {
  const form = subPixelOf(node);
  const dims = node.inputs[1]?.constant?.dims;
  if (!form || !dims || elementCount(dims) === 0) return null;
  const [depth, channels, ...window] = dims as [number, number, ...number[]];
  const places = read / depth;
  const results = places * channels * elementCount(window);
  const phases = elementCount(form.strides);
  const { products, overlapping, apart, written, rows } = rates.transposed;
  const [floatCall, integerCall] = rates.productCall;
  const outer = phases / form.strides.at(-1)!;
  const isApart = window.every((size, axis) => size <= form.strides[axis]!);
  const taps = elementCount(form.kernel);
  const farNs = farWeights(rates, elementCount(dims), all);
  return fromNanos(
    floatCall +
      products * results * depth +
      (isApart ? apart : overlapping) * results +
      written * places * channels * phases +
      farNs.float,
    integerCall +
      places * integerPlaceNs(rates, channels * phases, depth, taps, taps === 1) +
      (outer > 1 ? rows * places * outer : 0) +
      rates.otherCall[1] +
      farNs.integer,
  );
}

/** For so many output channels at a time, inputs are read once. */
const CHANNELS_AT_ONCE = 32;

const isFar = ({ cacheBytes }: KernelRates, weights: number, bytesOfEach: number): boolean =>
  weights * bytesOfEach > cacheBytes;

/** Of the weights of one node, where those of the model do not stay near. */
function farWeights(rates: KernelRates, weights: number, all: number): { float: number; integer: number } {
  const [float, integer] = rates.farWeights;
  return {
    float: isFar(rates, all, 4) ? float * weights : 0,
    integer: isFar(rates, all, 1) ? integer * weights : 0,
  };
}

/** Of one place that an integer convolution in one group writes, all its channels. */
function integerPlaceNs(
  { dense }: KernelRates,
  channels: number,
  depth: number,
  taps: number,
  isPoint: boolean,
): number {
  const lanes = padded(channels, LANES);
  // Fours of inputs and whole vectors of outputs are multiplied without gathering them first.
  const isDirect = depth % QUADS === 0 && channels >= LANES;
  const { products, written, point, window, pointers, copied } = isDirect ? dense.direct : dense.gathered;
  const multiplied = lanes * (isDirect ? depth * taps : padded(depth * taps, QUADS));
  return (
    products * multiplied +
    written * channels +
    (isDirect && isPoint ? point : window + taps * (pointers + copied * depth))
  );
}

/** Of the time without more channels, the most that it may take with them: they are one more node. */
const ADDED_SHARE = 0.85;
/** Of a size that is free: enough for one more node not to matter. */
const FREE_SIZE = 100;

/**
 * The images that models are given have one channel or three. Elsewhere a tensor lies with its channels last already,
 * where adding some means writing it place by place. Placement does not count on it: what is saved is little, and too
 * little to round an image for that could stay float.
 */
function paddedDepth(rates: KernelRates, conv: Node): number {
  const [input, weight] = conv.inputs;
  const dims = weight?.constant?.dims;
  if (!input || input.producer || input.constant || dims?.length !== 4) return dims?.[1] ?? 0;
  const [channels, depth, ...kernel] = dims as [number, number, number, number];
  if (conv.int("group", 1) !== 1 || elementCount(dims) === 0) return depth;
  const given = padded(depth, QUADS);
  const taps = elementCount(kernel);
  const strides = elementCount(conv.ints("strides") ?? [1, 1]);
  const isPoint = taps === 1 && strides === 1;
  const addedNs = rates.added * given * strides + rates.node / Math.max(1, placesOf(conv.output));
  const withMore = integerPlaceNs(rates, channels, given, taps, isPoint) + addedNs;
  return withMore < ADDED_SHARE * integerPlaceNs(rates, channels, depth, taps, isPoint) ? given : depth;
}

/** Of what is saved, the most that the Convs around may take more. */
const WIDENING_SHARE = 0.8;

/** Channels that fill no whole vectors are taken one by one; the dense Convs around may have some more, and what they make. */
function widenedChannels(rates: KernelRates, depthwise: Node): number {
  const own = depthwise.int("group", 1);
  const wide = padded(own, LANES);
  const region = wide > own ? channelRegionOf(depthwise) : null;
  if (!region) return own;
  const more = (made: (channels: number) => number): number => made(wide) - made(own);
  const dense = (node: Node, isMade: boolean): number => {
    const [channels, depth, ...kernel] = weightOf(node)!.dims as [number, number, ...number[]];
    const taps = elementCount(kernel);
    const isPoint = taps === 1 && elementCount(node.ints("strides") ?? [1]) === 1;
    return more((count) => integerPlaceNs(rates, isMade ? count : channels, isMade ? depth : count, taps, isPoint));
  };
  const apart = (taps: number): number => more((channels) => integerDepthwiseNs(rates, 1, channels, taps));
  let saved = 0;
  for (const node of region.depthwise)
    saved -= placesOf(node.output) * apart(elementCount(weightOf(node)!.dims.slice(2)));
  let added = 0;
  for (const node of region.producers) added += placesOf(node.output) * dense(node, true);
  for (const node of region.consumers) added += placesOf(node.output) * dense(node, false);
  for (const node of [...region.elementwise, ...region.pools]) {
    const window = windowMeanOf(node);
    const each = window ? apart(windowSize(window)) : (wide - own) * elementNs(rates, node);
    added += (window ? placesOf(node.output) : Math.max(placesOf(node.output), placesOf(node.inputs[0]!))) * each;
  }
  return added < WIDENING_SHARE * saved ? wide : own;
}

/** By the product in front of them, or behind. */
const absorbed = /^(Relu|Clip|QuantizeLinear|DequantizeLinear)$/;

/** Of one element more; of what is not in the table, more than any kernel saves. */
function elementNs({ others, activations, converted }: KernelRates, { op }: Node): number {
  if (absorbed.test(op)) return 0;
  const activation = ownEntry(activations, op);
  if (activation) return activation[1] + 2 * converted;
  return ownEntry(others, op)?.[1] ?? Infinity;
}

const placesOf = ({ shape }: Value): number =>
  elementCount((shape?.slice(2) ?? ["H", "W"]).map((dim) => (typeof dim === "number" ? dim : FREE_SIZE)));

function product(rates: KernelRates, node: Node, { read, weights: all }: NodeElements): KernelTime | null {
  const dims = node.inputs[1]?.constant?.dims;
  if (dims?.length !== 2) return null;
  const [depth, columns] =
    node.op === "Gemm" && node.int("transB", 0) !== 0 ? [dims[1]!, dims[0]!] : [dims[0]!, dims[1]!];
  if (depth === 0 || columns === 0) return null;
  const rows = read / depth;
  const weights = depth * columns;
  const { float, integer } = rates.product;
  const [floatCall, integerCall] = rates.productCall;
  return fromNanos(
    floatCall +
      float.products * rows * weights +
      float.written * rows * columns +
      (isFar(rates, all, 4) ? float.weightsFar : float.weights) * weights,
    integerCall +
      integer.products * rows * padded(columns, LANES) * padded(depth, QUADS) +
      integer.written * rows * columns +
      (isFar(rates, all, 1) ? integer.weightsFar : integer.weights) * weights,
  );
}
