/** What cutting units out of a model should compute: the model with the weights that read those units at zero. */
import { seededRandom } from "../../src/base/random.js";
import { check, type Model, parseModel, Tensor } from "../../src/ir/index.js";
import type { ChannelGroup, ChannelMap, Kept } from "../../src/pruning/groups/channel-group.js";
import { findChannelGroups } from "../../src/pruning/groups/find-channel-groups.js";
import { sliceChannels } from "../../src/pruning/slice/slice-channels.js";
import { annotateTypes } from "../../src/rewrite/index.js";
import { describeModel } from "./ask-runtime.js";
import { type Feeds, largestDifference, runModel, seededFeeds } from "./run-model.js";

const NAMED = /(\w+)((?:, \w+)* = \w+) "([^"]+)"/g;

/** The notation of graphs with names of nodes behind their operators: `c = Conv "first" (x, ...)`. */
function parseNamed(text: string, opset: number): Model {
  const names = new Map([...text.matchAll(NAMED)].map(([, output, , name]) => [output!, name!]));
  const model = parseModel(text.replace(NAMED, "$1$2"), { opset });
  for (const node of model.graph.nodes()) node.name = names.get(node.output.label) ?? "";
  return model;
}

/** Call it inside a test. */
export async function groupsOf(text: string | Model, opset = 18): Promise<ChannelMap> {
  const model = typeof text === "string" ? parseNamed(text, opset) : text;
  check(model.graph);
  const { problem } = await annotateTypes(model, describeModel);
  if (problem !== null) throw new Error(problem);
  return findChannelGroups(model);
}

/** A group in one line: `conv: 8 channels`, with the reason when it stays. */
export const described = ({ groups }: ChannelMap): string[] =>
  groups.map(({ name, kind, width, unitSize, frozen }) => {
    const size = unitSize > 1 ? ` of ${unitSize}` : "";
    return `${name}: ${width} ${kind}${size}${frozen === null ? "" : ` (${frozen})`}`;
  });

/** Some units of every group that can be cut, at least one, by chance. */
export function someUnits({ groups }: ChannelMap, seed: number): Map<ChannelGroup, number[]> {
  const random = seededRandom(seed);
  const free = groups.filter(({ frozen }) => frozen === null);
  return new Map(
    free.map((group) => {
      const sure = random.below(group.width);
      const units = Array.from({ length: group.width }, (_, unit) => unit);
      return [group, units.filter((unit) => unit === sure || random.next() < 0.5)];
    }),
  );
}

/** The model with zeros where weights read units that are cut. */
export function silenced(map: ChannelMap, kept: Kept): Model {
  const { model, nodeOf } = sliceChannels(map, new Map());
  for (const [group, units] of kept) {
    const stays = new Set(Array.from(units));
    for (const { node, input, axis, units: unitAt } of group.consumers) {
      const copy = nodeOf.get(node)!;
      const constant = copy.inputs[input]!.constant!;
      const { dims } = constant;
      const inner = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
      const data = constant.f32().map((weight, i) => {
        const unit = unitAt[Math.floor(i / inner) % dims[axis]!]!;
        return unit >= 0 && !stays.has(unit) ? 0 : weight;
      });
      copy.graph.setInput(copy, input, copy.graph.addConstant("silenced", Tensor.f32(dims, data)));
    }
  }
  return model;
}

/** Largest difference between a model cut by chance and what it should compute; the share of elements of constants that is left. */
export async function cutByChance(map: ChannelMap, seed: number, size = 2): Promise<{ off: number; left: number }> {
  const kept = someUnits(map, seed);
  const cut = sliceChannels(map, kept).model;
  check(cut.graph);
  const feeds: Feeds = seededFeeds(map.model, size, seed);
  const off = largestDifference(await runModel(silenced(map, kept), feeds), await runModel(cut, feeds));
  return { off, left: elementsOf(cut) / elementsOf(map.model) };
}

const elementsOf = ({ graph }: Model): number =>
  graph.constants.reduce((sum, { constant }) => sum + (constant?.elementCount ?? 0), 0);
