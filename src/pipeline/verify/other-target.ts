/** Integers made here for a place that cannot be measured here. */
import type { IntegerTarget } from "../../target/integer-kernel.js";
import { integerTarget, integerTargetNamed } from "../../target/integer-kernels.js";
import type { OptimizeConfig, RuntimeConfig } from "../config.js";
import type { RunContext } from "../context.js";

/** Where a model is to run, and what runs it here. */
export interface Places {
  readonly target: IntegerTarget;
  readonly here: IntegerTarget;
  /** Of this machine, in Node's word. */
  readonly architecture: string;
}

/** @param name the target, as `--target` names it; null: this processor */
export function placesOf(
  name: string | null,
  provider: string,
  { environment }: Pick<RunContext, "environment">,
): Places {
  const architecture = environment.platform.split("-").at(-1) ?? "";
  const here = integerTarget(provider, architecture, environment.flags);
  return { target: integerTargetNamed(name ?? undefined, here), here, architecture };
}

/** Sums that saturate here and not there would be measured as errors, and corrections would be fitted to them. */
export const withAnswersOf = (config: RuntimeConfig, { target, here }: Places): RuntimeConfig =>
  here.saturatesPairs && !target.saturatesPairs ? { ...config, isExact: true } : config;

/** The same for models that are there, and are to run on `target`. */
export const answeringFor = <C extends { readonly runtime: RuntimeConfig; readonly target?: string }>(
  config: C,
  context: RunContext,
): C => {
  const { runtime, target = null } = config;
  return { ...config, runtime: withAnswersOf(runtime, placesOf(target, runtime.provider, context)) };
};

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
export function timedOnAnother({ target, here, architecture }: Places): string[] {
  const { name, title } = target;
  // Of a processor whose instructions are not known only the architecture can be told.
  const isKnown = here.architecture !== undefined;
  const isAnother = isKnown ? name !== here.name : target.architecture !== architecture;
  if (target.architecture === undefined || !isAnother) return [];
  const where = isKnown ? here.title : `this ${architecture} processor`;
  return [`made for ${title}: speed was measured on ${where}, so time both files there (infer-opt bench)`];
}
