/**
 * Seeded inputs for smoke tests: they show that a model runs and that two models agree
 * on something, never how accurate either is.
 *
 * Open dimensions get sizes by symbol, so that inputs which share one agree; sizes vary
 * from sample to sample. Sample i depends on the seed and i only.
 */
import { f32ToBf16Bits, f32ToF16Bits } from "../base/f16.js";
import { type Random, seededRandom } from "../base/random.js";
import { type DType, elementCount, packedBytes, Tensor } from "../ir/index.js";
import type { Dataset, InputSpec, OpenSizes, Sample } from "./dataset.js";
import { datasetError } from "./errors.js";
import { sampleOrder } from "./select.js";

export interface RandomOptions {
  readonly seed: number;
  readonly count: number;
  /** Sizes by input name, null where the model decides; the symbols of that input take them on for the other inputs too. */
  readonly shapes?: ReadonlyMap<string, readonly (number | null)[]>;
  /** As in RandomSpec. */
  readonly values?: ReadonlyMap<string, readonly number[]>;
  readonly sizes?: OpenSizes;
}

/** Integers stay below this: token ids of the smallest vocabularies, indices of small tables. */
const INTEGER_BOUND = 8;

/** Elements of one made-up input: what an array can hold. */
const MOST_ELEMENTS = 2 ** 31 - 1;

/** Throws DATASET_EMPTY (count below 1) and, while samples are made, DATASET_INPUT_KIND and DATASET_SHAPE. */
export function randomDataset(signature: readonly InputSpec[], options: RandomOptions): Dataset {
  const { count } = options;
  if (!Number.isInteger(count) || count < 1) {
    throw datasetError("DATASET_EMPTY", `${count} random samples were asked for`, "Ask for at least one.");
  }
  const dataset: Dataset = {
    path: "random",
    count,
    hasLabels: false,
    async *samples(indices) {
      for (const index of sampleOrder(dataset, indices)) yield randomSample(signature, index, options);
    },
  };
  return dataset;
}

function randomSample(
  signature: readonly InputSpec[],
  index: number,
  { seed, shapes = new Map(), values, sizes: open = "small" }: RandomOptions,
): Sample {
  // An odd multiplier spreads neighbouring samples over the generator's states.
  const random = seededRandom((seed + Math.imul(index + 1, 0x85eb_ca6b)) >>> 0);
  const sizes = boundSizes(signature, shapes);
  const likely = (rank: number, axis: number): number => likelySizes[open](rank, axis, index, random);
  if (open === "uncached") for (const length of cacheLengths(signature)) if (!sizes.has(length)) sizes.set(length, 0);
  const feeds = new Map(
    signature.map((spec) => {
      const dims = chooseDims(spec, shapes.get(spec.name), sizes, likely);
      return [spec.name, randomTensor(spec, dims, random, chooser(values?.get(spec.name), index, random))] as const;
    }),
  );
  return { id: `random[${index}]`, feeds, labels: null };
}

/** Symbols whose size is settled by a given shape. */
function boundSizes(
  signature: readonly InputSpec[],
  shapes: ReadonlyMap<string, readonly (number | null)[]>,
): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { name, shape } of signature) {
    const given = shapes.get(name);
    if (!given || !shape) continue;
    if (
      given.length !== shape.length ||
      shape.some((dim, axis) => typeof dim === "number" && dim !== (given[axis] ?? dim))
    ) {
      throw datasetError(
        "DATASET_SHAPE",
        `shape [${given.join(",")}] was given for input "${name}", and the model takes [${shape.map((dim) => dim ?? "?").join(",")}]`,
        "Give a size for each axis, and keep those that the model fixes.",
        { fields: { input: name, given, shape } },
      );
    }
    for (const [axis, dim] of shape.entries()) {
      const size = given[axis];
      if (typeof dim === "string" && size != null) sizes.set(dim, size);
    }
  }
  return sizes;
}

/** Symbols for how much a cache of keys or values holds, [batch, heads, length, size]; images have two open axes. */
function* cacheLengths(signature: readonly InputSpec[]): Generator<string> {
  for (const { shape } of signature) {
    const open = shape?.length === 4 ? shape.slice(1).filter((dim) => typeof dim !== "number") : [];
    if (open.length === 1 && typeof open[0] === "string") yield open[0];
  }
}

function chooseDims(
  { name, shape: declared }: InputSpec,
  given: readonly (number | null)[] | undefined,
  sizes: Map<string, number>,
  likely: (rank: number, axis: number) => number,
): number[] {
  const shape = given?.map((size, axis) => size ?? declared?.[axis] ?? null) ?? declared;
  if (!shape) {
    throw datasetError(
      "DATASET_SHAPE",
      `nothing is known of the shape of input "${name}"`,
      `Give it: --shape ${name}=1,3,224,224.`,
      {
        fields: { input: name },
      },
    );
  }
  return shape.map((dim, axis) => {
    if (typeof dim === "number") return dim;
    const size = (dim === null ? undefined : (sizes.get(dim) ?? sumOf(dim, sizes))) ?? likely(shape.length, axis);
    if (dim !== null) sizes.set(dim, size);
    return size;
  });
}

/** The size of a symbol such as `past + sequence` when its parts are settled. */
function sumOf(symbol: string, sizes: ReadonlyMap<string, number>): number | undefined {
  const parts = symbol.split("+").map((part) => sizes.get(part.trim()));
  return parts.length > 1 && parts.every((part) => part !== undefined)
    ? parts.reduce<number>((sum, part) => sum + part!, 0)
    : undefined;
}

/** With so many axes or more, a few elements along each are a tensor of thousands. */
const MANY_AXES = 6;

/**
 * Batches of 1 to 3, another one in the next sample. Small: image sides that divide by 32, as strided
 * networks want, else 4 to 16. Large: sides of 224 and more, of volumes 32 and more, else some hundreds (windows of sound).
 */
const likelySizes: Readonly<Record<OpenSizes, (rank: number, axis: number, index: number, random: Random) => number>> =
  {
    small(rank, axis, index, random) {
      if (axis === 0) return 1 + (index % 3);
      if (rank === 4) return axis === 1 ? 3 : 32 * (1 + random.below(2));
      return rank >= MANY_AXES ? 2 + random.below(2) : 4 + random.below(13);
    },
    large(rank, axis, index, random) {
      if (axis === 0) return 1 + (index % 3);
      if (rank === 4) return axis === 1 ? 3 : 224 + 32 * random.below(2);
      if (rank === 5) return axis === 1 ? 3 : 32 * (1 + random.below(2));
      if (rank >= MANY_AXES) return likelySizes.small(rank, axis, index, random);
      return 512 + 64 * random.below(3);
    },
    single(rank, axis, index, random) {
      return axis === rank - 1 || (rank === 4 && axis > 0) ? likelySizes.large(rank, axis, index, random) : 1;
    },
    uncached(_rank, axis, index) {
      return axis === 0 ? 1 + (index % 3) : 6 + index;
    },
  };

function randomTensor(
  { name, dtype }: InputSpec,
  dims: readonly number[],
  random: Random,
  choose: ((length: number) => number[]) | null,
): Tensor {
  const length = elementCount(dims);
  if (length > MOST_ELEMENTS) {
    throw datasetError(
      "DATASET_SHAPE",
      `input "${name}" of shape [${dims.join(",")}] would have ${length} elements`,
      `Give smaller sizes: --shape ${name}=1,3,224,224.`,
      { fields: { input: name, shape: dims } },
    );
  }
  const fill = <T>(array: { from(of: { length: number }, value: () => T): ArrayBufferView }, value: () => T) =>
    Tensor.ofArray(dtype!, dims, array.from({ length }, value));
  switch (dtype) {
    case "f32":
      return fill(Float32Array, random.normal);
    case "f64":
      return fill(Float64Array, random.normal);
    case "f16":
      return fill(Uint16Array, () => f32ToF16Bits(random.normal()));
    case "bf16":
      return fill(Uint16Array, () => f32ToBf16Bits(random.normal()));
    case "bool":
      return fill(Uint8Array, () => (isMask(name) ? 1 : random.below(2)));
    // Inputs of 8 bits are images or quantized values: the whole range.
    case "u8":
    case "i8":
    case "u4":
    case "i4":
    case "u2":
    case "i2":
      return Tensor.fromBytes(
        dtype,
        dims,
        Uint8Array.from({ length: packedBytes(dtype, length) }, () => random.below(256)),
      );
    case "string":
      return Tensor.strings(
        dims,
        Array.from({ length }, () => new TextEncoder().encode(`word${random.below(INTEGER_BOUND)}`)),
      );
    case "i16":
    case "u16":
    case "i32":
    case "u32":
    case "i64":
    case "u64":
      return Tensor.ofArray(
        dtype,
        dims,
        integerArrays[dtype](choose ? choose(length) : integerValues(name, dims, random)),
      );
    default:
      throw unsupported(name, dtype);
  }
}

const integerArrays = {
  i16: (values: readonly number[]) => Int16Array.from(values),
  u16: (values: readonly number[]) => Uint16Array.from(values),
  i32: (values: readonly number[]) => Int32Array.from(values),
  u32: (values: readonly number[]) => Uint32Array.from(values),
  i64: (values: readonly number[]) => BigInt64Array.from(values, BigInt),
  u64: (values: readonly number[]) => BigUint64Array.from(values, BigInt),
};

const isMask = (name: string): boolean => /mask/i.test(name);

/** Masks let everything through (an empty one makes NaN), positions count up along the last axis, segments are 0. */
function integerValues(name: string, dims: readonly number[], random: Random): number[] {
  const last = dims.at(-1) ?? 1;
  return Array.from({ length: elementCount(dims) }, (_, i) => {
    if (isMask(name)) return 1;
    if (/position/i.test(name)) return i % last;
    if (/token_type|segment/i.test(name)) return 0;
    return random.below(INTEGER_BOUND);
  });
}

/** Draws from given integers; a single one is the next of them in the next sample. */
function chooser(
  values: readonly number[] | undefined,
  index: number,
  random: Random,
): ((length: number) => number[]) | null {
  if (!values || values.length === 0) return null;
  return (length) =>
    length === 1
      ? [values[index % values.length]!]
      : Array.from({ length }, () => values[random.below(values.length)]!);
}

const unsupported = (name: string, dtype: DType | null) =>
  datasetError(
    "DATASET_INPUT_KIND",
    `no random values can be made for input "${name}" of type ${dtype ?? "sequence or map"}`,
    "Give real samples instead.",
    {
      fields: { input: name, dtype },
    },
  );
