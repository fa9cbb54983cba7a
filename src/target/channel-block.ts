/**
 * Channels that the convolutions of a processor work on at once. ONNX Runtime on the CPU lays activations out in blocks of
 * channels (NchwcBlockSize in onnxruntime/core/mlas/lib/platform.cpp): 16 with AVX-512, 8 on other x86 processors, 16 in
 * the kernels for NEON. A block that is begun is computed whole.
 *
 * As measured by bench/prune-widths.mjs on a Zen 4 with AVX-512, ONNX Runtime 1.30, one thread, by the number of
 * hidden channels of 28 x 28 places (1536 units of 32 rows for the products of matrices):
 *
 *   3x3 Conv                128  120  112  104   96   80   64   56   48   40   32   24   16    8
 *     speedup              1.00 1.00 1.12 1.14 1.33 1.58 1.90 1.97 2.52 2.55 3.55 3.61 6.15 7.33
 *   expand, depthwise,      256  252  250  240  224  192  160  144  143  128  120  112   64   56   32   24   16   12    8
 *   project: speedup       1.00 1.02 0.60 1.08 1.15 1.31 1.50 1.63 0.98 1.76 1.78 1.98 2.90 2.95 4.31 4.25 5.58 4.63 5.03
 *   MatMul                 1536 1528 1504 1472 1408 1280 1152 1100  768  760  700  512  256  128
 *     speedup              1.00 0.99 0.99 1.06 1.12 1.19 1.33 1.40 1.98 1.99 2.08 2.74 5.03 8.11
 *
 * So convolutions gain by whole blocks only, and hardly anything below one; where the channels are no multiple of 4
 * the blocked layout is given up (the transposition to it takes 4 at a time), which costs more than a third of the
 * channels saves. Products of matrices gain in proportion, without steps.
 */

/** As many channels as are laid out side by side. */
export function channelBlock(flags: readonly string[]): number {
  const isArm = flags.includes("asimd") || flags.includes("neon");
  return flags.includes("avx512f") || isArm ? 16 : 8;
}

/** Channels that a convolution reads are transposed to blocks by so many; others keep it off the blocked layout. */
export const CHANNELS_AT_ONCE = 4;

const WIDEST_BLOCK = 16;

/** Whether so many channels leave no room in blocks of any processor. */
export const fillsBlocks = (channels: number): boolean => channels % WIDEST_BLOCK === 0;

/** Fewer channels than this, each on its own, gain nothing by the blocked layout. */
const LEAST_DEPTHWISE = 12;

/** Whether a convolution of so many channels, each on its own, has the kernel for blocks. */
export const isQuickDepthwise = (channels: number): boolean =>
  channels % CHANNELS_AT_ONCE === 0 && channels >= LEAST_DEPTHWISE;

/** The least multiple of so many that is not less. */
export const wholeChannels = (channels: number): number => Math.ceil(channels / CHANNELS_AT_ONCE) * CHANNELS_AT_ONCE;
