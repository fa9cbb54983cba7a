/** Why a region stays float though integers have a kernel for it, in words that its own times bear out. */
import { type RegionTime, savedMs } from "../candidates/regions.js";

const ms = (value: number): string => `${value.toFixed(value < 1 ? 3 : 1)} ms`;

const timesOf = ({ beforeMs, kernelMs, conversionMs }: RegionTime): string =>
  `${ms(kernelMs)} as integers and ${ms(conversionMs)} for conversions, ${ms(beforeMs)} in float`;

/**
 * Where the cheapest split of the model has it in float.
 *
 * @param leastShare of its time in float that integers were to gain; 0 or less where any gain was enough
 */
export function whyNoGain(time: RegionTime, leastShare: number): string {
  if (savedMs(time) <= 0) return `does not pay: ${timesOf(time)}`;
  if (savedMs(time) < leastShare * time.beforeMs) return `gains little, for its error: ${timesOf(time)}`;
  // What it gains is lost again where tensors are converted between it and its neighbours.
  return `would pay beside integers alone, and what is around it stays float: ${timesOf(time)}`;
}

/** Of a neighbour whose products gain without it. @param convertedMs of all that it reads and makes */
export const whySlowKernel = ({ beforeMs, kernelMs }: RegionTime, convertedMs: number): string =>
  `its integer kernel is slower: ${ms(kernelMs)}, and ${ms(beforeMs)} in float with ${ms(convertedMs)} for conversions`;

/** Of what scales channels, where all such are in float. */
export const whyGate = "one number for each channel, whose rounding would be on all that it scales";

/** Of a neighbour of products, where all such are in float. */
export const whyApart = "something would be converted for it alone, and its error is not worth that";

/** Where it reads the inputs, or what is float because of them. */
export const whyFloatInput = (time: RegionTime): string =>
  savedMs(time) <= 0
    ? `reads the inputs, and is no faster: ${timesOf(time)}`
    : `reads the inputs: ${ms(savedMs(time))} slower in float, and its error would go through the whole model`;
