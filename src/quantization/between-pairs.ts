/** A node between pairs whose integers are known without computing it: the same ones, or these in other places. */
import { type Node, soleReader, type Value } from "../ir/index.js";
import { type ActivationScheme, isSameScheme, schemeOf } from "./scheme.js";

/** What stands around a node, once pairs are written. */
export interface BetweenPairs {
  readonly dequantize: Node;
  readonly quantize: Node;
}

/**
 * null where the integers behind stand for something else: a model that has pairs of its own may have them by any scale.
 *
 * @param slot place of the input that is integers
 * @param as by what they go behind the node, from what they go by in front
 */
export function betweenPairs(
  node: Node,
  slot: number,
  as = (scheme: ActivationScheme): ActivationScheme => scheme,
): BetweenPairs | null {
  const dequantize = node.inputs[slot]?.producer;
  const quantize = soleReader(node.output);
  if (!dequantize?.is("DequantizeLinear") || !quantize?.is("QuantizeLinear")) return null;
  const [own, made] = [schemeOf(dequantize), schemeOf(quantize)];
  return own && made && isSameScheme(as(own), made) ? { dequantize, quantize } : null;
}

/** Puts integers in the place of what a node and its pairs make of them. */
export function replaceBetweenPairs(node: Node, { dequantize, quantize }: BetweenPairs, integers: Value): void {
  const { graph } = node;
  graph.replaceUses(quantize.output, integers);
  graph.removeNode(quantize);
  graph.removeNode(node);
  if (dequantize.output.useCount === 0) graph.removeNode(dequantize);
}
