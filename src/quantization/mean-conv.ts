/**
 *   AveragePool(x: [N,C,...])  =>  Conv<group=C>(x, W: [C,1,...window])     all of W one part of its window
 *
 * among integers, which have a faster kernel for that (target/window-mean.ts). Weights alike have no rounding error.
 */
import { attr, type Graph, type Node, Tensor, type Value } from "../ir/index.js";
import { compute, type IntegerTarget } from "../target/integer-kernel.js";
import { type WindowMean, windowMeanOf, windowSize } from "../target/window-mean.js";
import type { PlannedNode } from "./plan-static.js";

/** Writes pools among nodes that are to be integers as Convs, which stand in their place then. */
export function meanConvs(planned: readonly PlannedNode[], { isMeasurable }: IntegerTarget): readonly PlannedNode[] {
  const weights = new Map<string, Value>();
  return planned.map((each): PlannedNode => {
    const window = isMeasurable ? windowMeanOf(each.node) : null;
    if (!window) return each;
    const old = each.node.output;
    const conv = asConv(each.node, window, weights);
    const outputs = each.outputs.map((value) => (value === old ? conv.output : value));
    return { node: conv, kernel: compute(true), outputs };
  });
}

function asConv(pool: Node, window: WindowMean, weights: Map<string, Value>): Node {
  const { graph, name, output, provenance } = pool;
  const { channels, kernel, strides, dilations, pads } = window;
  const key = [channels, ...kernel].join();
  const weight = weights.get(key) ?? weightOf(graph, `${output.label}/mean`, window);
  weights.set(key, weight);
  const attributes = {
    group: attr.int(channels),
    kernel_shape: attr.ints(kernel),
    strides: attr.ints(strides),
    dilations: attr.ints(dilations),
    pads: attr.ints(pads),
  };
  const { label, type } = output;
  const inputs = [pool.inputs[0]!, weight];
  const conv = graph.addNode({ op: "Conv", name, inputs, attributes, outputs: [{ label, type }], provenance }, pool);
  graph.replaceUses(output, conv.output);
  graph.removeNode(pool);
  return conv;
}

function weightOf(graph: Graph, label: string, window: WindowMean): Value {
  const size = windowSize(window);
  const parts = new Float32Array(window.channels * size).fill(1 / size);
  return graph.addConstant(label, Tensor.f32([window.channels, 1, ...window.kernel], parts));
}
