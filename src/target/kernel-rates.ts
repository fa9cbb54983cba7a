/**
 * What each part of a kernel's time takes on a kind of processor, nanoseconds; kernel-times.ts adds them up. Fitted to what
 * ONNX Runtime 1.30's profile says of kernels that run between two others, on one core.
 *
 * - x86 with VNNI: 430 convolutions and 110 products of all shapes, and 1,100 regions of 27 models (classifiers, detectors,
 *   text), on a Zen 4 with AVX-512 VNNI: half of the predictions are within 6 %.
 * - x86 without it: 620 convolutions and 220 products on a Zen 3 (AVX2), the second least of eight profiles of each, for
 *   the machine was uneven: half of the predictions are within 4 to 7 %, those of grouped convolutions in float within 20 %.
 * - `transposed`, `repeated`, Softmax, Resize and DepthToSpace of integers with VNNI: on a Zen 5, times 2.2, which its other kernels take less of than
 *   those of the Zen 4. Of 52 ConvTransposes half of the predictions are within 5 %. Without VNNI they are guesses in proportion.
 * - `maxByPlanes` without VNNI: on a Zen 3, of windows of 2x2 to 5x5; with it, on a Zen 5, times 2.2 as above.
 */

type Pair = readonly [float: number, integer: number];

export interface KernelRates {
  /** Values in one vector of a float kernel, and channels in a block. */
  readonly floatLanes: number;
  /** What weights may take for them to stay near from run to run. */
  readonly cacheBytes: number;
  /** Of a product's kernel, and of another's: to begin with. */
  readonly productCall: Pair;
  readonly otherCall: Pair;
  /** Of one more node, and of the loop around it. */
  readonly node: number;
  /** For each element: to convert it, to put channels last, to put them in blocks. */
  readonly converted: number;
  readonly moved: number;
  readonly blocked: number;
  /** For each element of an image with channels added: to write it, and to put more channels last. */
  readonly added: number;
  /** For each weight of a convolution that has to come from afar. */
  readonly farWeights: Pair;
  /** A window of each channel. `lanes` are elements written, channels in whole vectors; times the window's taps, `products`. */
  readonly depthwise: {
    readonly float: {
      readonly products: number;
      /** More for windows that reach over a side of the image. */
      readonly productsAtSides: number;
      readonly lanes: number;
      readonly lanesFar: number;
      readonly lanesAtSides: number;
      readonly read: number;
    };
    readonly integer: {
      readonly products: number;
      /** More for each product where channels do not fill whole vectors. */
      readonly unaligned: number;
      readonly written: number;
      /** Of each place, and of each pointer there to what its window reads. */
      readonly window: number;
      readonly pointers: number;
    };
  };
  readonly grouped: {
    readonly blocked: GroupedFloat;
    readonly gathered: GroupedFloat;
    readonly integer: GroupedInteger;
  };
  /** All channels in one group. In float few input channels, and many; in integers where inputs lie, and gathered. */
  readonly dense: {
    readonly short: DenseFloat & { readonly inputs: number; readonly lanesFar: number; readonly read: number };
    readonly long: DenseFloat;
    readonly direct: DenseInteger;
    readonly gathered: DenseInteger;
  };
  readonly transposed: TransposedConv;
  readonly product: { readonly float: Product; readonly integer: Product };
  /** By operator, for each element, of the largest tensor there: of an Add, the float kernel of the convolution before it takes care. */
  readonly others: Readonly<Record<string, Pair>>;
  /** Of a Resize that repeats each place, which is copied as integers. */
  readonly repeated: Pair;
  /** Of an AveragePool: for each element written, and for each place of its window; of one where the result is one element wide. */
  readonly average: Readonly<Record<"float" | "integer", Average>>;
  /** Of a MaxPool of integers with their channels first: for each element written and each place of its window. */
  readonly maxByPlanes: number;
  /** The same of an Add that follows no convolution, and of a Mul of two tensors of one size; a Mul of a number for each channel is in the others. */
  readonly alone: Readonly<Record<"Add" | "Mul", Pair>>;
  /** Of activations without an integer kernel: nodes that the runtime makes of them, and what they take for each element. */
  readonly activations: Readonly<Record<string, readonly [nodes: number, rate: number]>>;
}

interface Average {
  readonly written: number;
  readonly taps: number;
  readonly tapsOfColumn: number;
}

interface GroupedFloat {
  readonly products: number;
  /** Of each tap of each window, by itself, for each group, and for each channel that is copied there. */
  readonly windows: number;
  readonly groups: number;
  readonly copied: number;
  /** For each element read and each tap. */
  readonly read: number;
}

interface GroupedInteger {
  readonly products: number;
  readonly written: number;
  /** Of each place in each group, and of each pointer there. */
  readonly windows: number;
  readonly pointers: number;
  readonly read: number;
}

interface DenseFloat {
  readonly products: number;
  /** For each input of a window, once for all output channels that are computed together. */
  readonly sets: number;
  readonly lanes: number;
}

interface DenseInteger {
  readonly products: number;
  readonly written: number;
  /** Of each place: of a point, or of a window, with each pointer to a place that it reads, and each channel copied from there. */
  readonly point: number;
  readonly window: number;
  readonly pointers: number;
  readonly copied: number;
}

/** A ConvTranspose: in float a product, whose results are added up where they belong. */
interface TransposedConv {
  readonly products: number;
  /** For each result of the product: of windows that reach over each other, and of those that do not. */
  readonly overlapping: number;
  readonly apart: number;
  readonly written: number;
  /** As integers, beside the Conv: of each row of outputs that come of one place. */
  readonly rows: number;
}

interface Product {
  readonly products: number;
  readonly written: number;
  readonly weights: number;
  readonly weightsFar: number;
}

/** On x86 with VNNI. */
export const vnniRates: KernelRates = {
  floatLanes: 16,
  // What such processors have next to each core.
  cacheBytes: 2 ** 20,
  productCall: [2900, 3900],
  otherCall: [2000, 3900],
  node: 3000,
  converted: 0.13,
  moved: 0.07,
  blocked: 0.1,
  added: 0.08,
  farWeights: [0.18, 0.072],
  depthwise: {
    float: { products: 0.0185, productsAtSides: 0, lanes: 0.06, lanesFar: 0.23, lanesAtSides: 0, read: 0.015 },
    integer: { products: 0.026, unaligned: 0.038, written: 0.14, window: 0, pointers: 0.6 },
  },
  grouped: {
    blocked: { products: 0.017, windows: 4, groups: 0, copied: 0, read: 0 },
    gathered: { products: 0.084, windows: 0, groups: 0.23, copied: 0, read: 0.04 },
    integer: { products: 0.0049, written: 0.05, windows: 2.5, pointers: 3.6, read: 0.056 },
  },
  dense: {
    short: { products: 0.0165, sets: 0, inputs: 0.024, lanes: 0.03, lanesFar: 0.15, read: 0.3 },
    long: { products: 0.0172, sets: 0, lanes: 0.064 },
    direct: { products: 0.0044, written: 0.08, point: 0.6, window: 3.2, pointers: 0.4, copied: 0.004 },
    gathered: { products: 0.0047, written: 0.25, point: 0, window: 12, pointers: 0.65, copied: 0.035 },
  },
  transposed: { products: 0.0165, overlapping: 0.6, apart: 0.17, written: 0.34, rows: 12 },
  product: {
    float: { products: 0.0157, written: 0.06, weights: 0.02, weightsFar: 0.2 },
    integer: { products: 0.004, written: 0.14, weights: 0.01, weightsFar: 0.072 },
  },
  others: {
    Add: [0.02, 0.16],
    Mul: [0.16, 0.33],
    Sigmoid: [0.26, 0.27],
    LeakyRelu: [0.1, 0.17],
    Softmax: [0.9, 4.6],
    Concat: [0.15, 0.15],
    Where: [3, 6.3],
    GlobalAveragePool: [0.11, 0.07],
    ReduceMean: [0.11, 0.07],
    MaxPool: [0.3, 0.3],
    ReduceMax: [0.3, 0.3],
    Transpose: [1, 0.28],
    Split: [0.1, 0.05],
    Slice: [0.1, 0.05],
    Gather: [0.1, 0.05],
    Tile: [0.1, 0.05],
    Resize: [0.3, 1.3],
    DepthToSpace: [2.7, 0.15],
  },
  average: {
    float: { written: 0.35, taps: 0.012, tapsOfColumn: 1.2 },
    integer: { written: 3.2, taps: 0.2, tapsOfColumn: 0.6 },
  },
  maxByPlanes: 5.5,
  alone: { Add: [0.15, 0.16], Mul: [0.16, 0.22] },
  repeated: [0.3, 0.15],
  activations: { HardSwish: [2, 0.41], HardSigmoid: [1, 0.2], Tanh: [1, 0.4] },
};

/** On x86 with AVX2 and without VNNI. */
export const avx2Rates: KernelRates = {
  floatLanes: 8,
  // Of the last cache, what weights may have: it is shared, and as large in few of them as here.
  cacheBytes: 2 ** 24,
  productCall: [3500, 5000],
  otherCall: [3000, 4500],
  node: 4000,
  converted: 0.2,
  moved: 0.115,
  blocked: 0.15,
  // Fours of input channels save nothing there.
  added: Number.POSITIVE_INFINITY,
  farWeights: [0.18, 0.041],
  depthwise: {
    float: { products: 0.0343, productsAtSides: 0.054, lanes: 0, lanesFar: 0, lanesAtSides: 0.29, read: 0.037 },
    integer: { products: 0.0445, unaligned: 0.032, written: 0.18, window: 4.4, pointers: 0.19 },
  },
  grouped: {
    blocked: { products: 0.0205, windows: 0, groups: 0, copied: 0.2, read: 0 },
    gathered: { products: 0.0255, windows: 0, groups: 0, copied: 0.2, read: 0.13 },
    integer: { products: 0.0115, written: 0.37, windows: 19.5, pointers: 3, read: 0 },
  },
  dense: {
    short: { products: 0.0161, sets: 0.19, inputs: 0.053, lanes: 0, lanesFar: 0, read: 0 },
    long: { products: 0.0132, sets: 0.256, lanes: 0.054 },
    direct: { products: 0.0105, written: 0.185, point: 0, window: 13, pointers: 0.9, copied: 0 },
    gathered: { products: 0.0107, written: 0.312, point: 0, window: 18, pointers: 0.52, copied: 0 },
  },
  // In the proportions of products and elements there.
  transposed: { products: 0.022, overlapping: 0.7, apart: 0.2, written: 0.4, rows: 14 },
  product: {
    float: { products: 0.0211, written: 0.07, weights: 0.057, weightsFar: 0.184 },
    integer: { products: 0.0101, written: 0.324, weights: 0.0127, weightsFar: 0.041 },
  },
  others: {
    Add: [0.02, 0.16],
    Mul: [0.2, 0.26],
    Sigmoid: [0.33, 0.32],
    LeakyRelu: [0.185, 0.31],
    Softmax: [0.9, 4.6],
    Concat: [0.15, 0.3],
    Where: [3, 6.3],
    GlobalAveragePool: [0.13, 0.045],
    ReduceMean: [0.14, 0.045],
    MaxPool: [0.105, 0.1],
    ReduceMax: [0.3, 0.3],
    Transpose: [0.25, 0.12],
    Split: [0.1, 0.05],
    Slice: [0.1, 0.05],
    Gather: [0.1, 0.05],
    Tile: [0.1, 0.05],
    Resize: [0.4, 1.3],
    DepthToSpace: [2.7, 0.2],
  },
  // Integers of 3x3 windows as they were measured, the rest in the proportions of the others.
  average: {
    float: { written: 0.6, taps: 0.02, tapsOfColumn: 1.2 },
    integer: { written: 5, taps: 0.3, tapsOfColumn: 0.8 },
  },
  maxByPlanes: 3.7,
  alone: { Add: [0.2, 0.16], Mul: [0.2, 0.26] },
  repeated: [0.4, 0.2],
  activations: { HardSwish: [2, 0.36], HardSigmoid: [1, 0.165], Tanh: [1, 0.31] },
};
