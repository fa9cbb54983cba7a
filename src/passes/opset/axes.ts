/** Squeeze, Unsqueeze and the reductions: `axes` became an input, at 13 for the first three of them, at 18 for the rest. */
import { type Converter, intsToInput } from "./converter.js";

export const squeezeAxesToInput: Converter = {
  at: 13,
  convert: (node) => intsToInput(node, "axes", 1, true),
};

export const unsqueezeAxesToInput: Converter = {
  at: 13,
  convert: (node) => intsToInput(node, "axes", 1),
};

/** Without axes, or with an empty list, every axis is reduced: before and after. */
export const reduceAxesToInput = (at: 13 | 18): Converter => ({
  at,
  convert: (node) => intsToInput(node, "axes", 1, true),
});
