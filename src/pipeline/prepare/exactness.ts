/** Where the runtime itself lets even exact rewrites move the last bit. */
import { type Model, nodesWithin } from "../../ir/index.js";
import { isHalf } from "../../rewrite/index.js";

const products = new Set("Conv ConvTranspose Gemm MatMul".split(" "));

/**
 * Whether it does in this model, whose types must be known: it computes half precision in float32 and rounds between some
 * nodes only, so a node less is a rounding less; and products sum up in another order once their weights are constants.
 */
export const movesLastBits = ({ graph }: Model): boolean =>
  [...nodesWithin(graph)].some(
    (node) => node.outputs.some(isHalf) || (products.has(node.op) && node.inputs[1]?.producer != null),
  );
