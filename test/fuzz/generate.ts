/** From a number to a small model: random nodes, or a pattern from the tests of the passes that is changed a little and grown on. */
import { type Graph, type Model, opsetOf, parseModel } from "../../src/ir/index.js";
import { Chance } from "./chance.js";
import type { FuzzCase } from "./fuzz-case.js";
import { GraphBuilder } from "./graph-builder.js";
import { mutations } from "./mutate.js";
import { makers } from "./operators.js";
import { textOf } from "./shrink.js";
import { wrapEnd } from "./wrap.js";

/** A graph from the tests of a pass. */
export interface Pattern {
  readonly text: string;
  readonly opset: number;
  /** The pass whose test it is from. */
  readonly pass: string;
}

const OPSETS = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 17, 18, 19, 20, 21, 22, 23, 24, 25];
const SYMBOLS = ["N", "M", "len"];

/** null when nothing valid came of the seed. Depends on the seed and the patterns alone. */
export async function generate(seed: number, patterns: readonly Pattern[]): Promise<FuzzCase | null> {
  const chance = new Chance(seed);
  const isPlanted = patterns.length > 0 && chance.one(0.7);
  const model = isPlanted ? planted(chance, patterns) : randomStart(chance);
  if (!model) return null;
  const builder = new GraphBuilder(model, chance, seed);
  if (!(await builder.begin())) return null;
  const ops = Object.keys(makers);
  const favourites = chance.shuffled(ops).slice(0, 8);
  const wanted = isPlanted ? chance.pick([0, 0, 1, 2, 4]) : chance.between(3, 14);
  for (let tries = 0, made = 0; made < wanted && tries < wanted * 6; tries++) {
    const spec = makers[chance.pick(chance.one(0.5) ? favourites : ops)]!(builder);
    if (spec && (await builder.tryAdd(spec))) made++;
    else sweepConstants(model.graph);
  }
  chooseOutputs(model.graph, chance);
  if (chance.one(0.08)) wrapEnd(model.graph, chance);
  if (model.graph.outputs.length === 0) return null;
  const constants = model.graph.constants.filter(({ constant, label }) => constant && label);
  return {
    text: textOf(model),
    opset: opsetOf(model),
    overridable: chance.one(0.05) && constants.length > 0 ? [chance.pick(constants).label] : [],
    typed: chance.one(0.93),
  };
}

function planted(chance: Chance, patterns: readonly Pattern[]): Model | null {
  const pattern = chance.pick(patterns);
  const opset = chance.one(0.15) ? chance.pick(OPSETS) : pattern.opset;
  const model = parseModel(pattern.text, { opset, seed: chance.below(1000) });
  for (let left = chance.pick([0, 1, 1, 2, 2, 3]); left > 0; left--) {
    try {
      chance.pick(mutations)(model, chance);
    } catch (thrown) {
      // A change that the graph refuses is none.
      if (!(thrown instanceof Error)) throw thrown;
      return null;
    }
  }
  return model;
}

function randomStart(chance: Chance): Model {
  const opset = chance.pick(OPSETS);
  const model = parseModel("() -> () { }", { opset });
  const count = chance.between(1, 3);
  for (let i = 0; i < count; i++) {
    const rank = chance.pick([0, 1, 2, 2, 3, 3, 4, 4, 4, 5]);
    const shape = Array.from({ length: rank }, () =>
      chance.one(0.25) ? chance.pick(SYMBOLS) : chance.one(0.05) ? null : chance.pick([1, 2, 2, 3, 4, 6]),
    );
    if (rank > 0 && chance.one(0.03)) shape[chance.below(rank)] = 0;
    const dtype = chance.pick([
      "f32",
      "f32",
      "f32",
      "f32",
      "f32",
      "f16",
      "f16",
      "f64",
      "i64",
      "i32",
      "u8",
      "bool",
    ] as const);
    model.graph.addInput(`x${i}`, { dtype, shape });
  }
  return model;
}

/** Results: what nobody reads, and sometimes something in the middle. */
function chooseOutputs(graph: Graph, chance: Chance): void {
  const behind = new Set(graph.outputs.map(({ value }) => value));
  for (const node of graph.nodes()) {
    for (const output of node.outputs) {
      if (!output || behind.has(output)) continue;
      if (output.useCount === 0 ? chance.one(0.85) : chance.one(0.06)) graph.addOutput(output.label, output);
    }
  }
  if (graph.outputs.length === 0 && graph.lastNode) graph.addOutput(graph.lastNode.output.label, graph.lastNode.output);
}

function sweepConstants(graph: Graph): void {
  for (const value of graph.constants) if (value.useCount === 0) graph.removeConstant(value);
}
