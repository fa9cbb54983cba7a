/** Makes a copy of a model tell the extremes and the energy of each channel of some values, and nothing else. */
import type { Model, Value } from "../../ir/index.js";
import { keepOutputs, reduceOver } from "../../rewrite/tap-model.js";
import type { Reduction } from "../../runtime/port.js";
import type { ChannelRanges } from "./channel-scales.js";

/** Names of outputs by what they tell of one value. */
interface ChannelTap {
  readonly low: string;
  readonly high: string;
  readonly meanSquare: string;
}

export interface ChannelTaps {
  readonly outputs: ReadonlyMap<string, Reduction>;
  /** By value label, from what the outputs were reduced to over so many samples. */
  ranges(reduced: ReadonlyMap<string, Float64Array>, samples: number): ReadonlyMap<string, ChannelRanges>;
}

/** `axes`: the channel axis of each value; their ranks are known. */
export function tapChannels(model: Model, axes: ReadonlyMap<Value, number>): ChannelTaps {
  const outputs = new Map<string, Reduction>();
  const taps = new Map<string, ChannelTap>();
  for (const [value, axis] of axes) {
    const others = value.shape!.map((_, i) => i).filter((i) => i !== axis);
    const tap = (what: string, op: string, of: Value, reduction: Reduction): string => {
      const name = `${value.label}/${what}`;
      model.graph.addOutput(name, reduceOver(model, op, of, others, name));
      outputs.set(name, reduction);
      return name;
    };
    const { graph } = model;
    const label = `${value.label}/square`;
    const square = graph.addNode({ op: "Mul", name: label, inputs: [value, value], outputs: [{ label }] }).output;
    taps.set(value.label, {
      low: tap("low", "ReduceMin", value, "min"),
      high: tap("high", "ReduceMax", value, "max"),
      meanSquare: tap("mean square", "ReduceMean", square, "sum"),
    });
  }
  keepOutputs(model, new Set(outputs.keys()));
  return {
    outputs,
    ranges: (reduced, samples) =>
      new Map(
        [...taps].map(([label, { low, high, meanSquare }]) => [
          label,
          {
            low: reduced.get(low)!.map((value) => Math.min(0, value)),
            high: reduced.get(high)!.map((value) => Math.max(0, value)),
            meanSquare: reduced.get(meanSquare)!.map((sum) => sum / samples),
          },
        ]),
      ),
  };
}
