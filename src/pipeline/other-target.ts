/** Integers made here for a place that cannot be measured here. */
import type { IntegerTarget } from "../target/integer-kernel.js";
import type { OptimizeConfig } from "./config.js";

/** Speed measured here is no reason for anything elsewhere: what can become integers there does. */
export function withoutSpeed(config: OptimizeConfig, { kernels }: IntegerTarget): OptimizeConfig {
  const { quantize } = config;
  if (quantize.goal === "size") return config;
  const mode = Object.keys(kernels).length > 0 ? "static" : "weights";
  return { ...config, quantize: { ...quantize, goal: "size", mode: quantize.mode === "auto" ? mode : quantize.mode } };
}

/** What the measurements of a run cannot say about the place that its result is for. */
export function whatIsUnseen({ name, title, kernels, sources }: IntegerTarget, provider: string): string[] {
  const none =
    Object.keys(kernels).length === 0 ? [`${title} has no integer kernels: only weights become integers`] : [];
  if (name === provider) return none;
  const measured = `accuracy was measured with ONNX Runtime on the ${provider}, whose speed says nothing about it`;
  return [
    ...none,
    `made for ${title}, which does not run here: its integer kernels are those of its documents (${sources.join(", ")}), and ${measured}`,
  ];
}

/** What the times of a run on this processor cannot say about one of another kind, which would run the same file. */
export const timedOnAnother = ({ title, architecture }: IntegerTarget, here: string): string[] =>
  architecture === undefined || architecture === here
    ? []
    : [`made for ${title}: speed was measured on this ${here} processor, so time both files there (infer-opt bench)`];
