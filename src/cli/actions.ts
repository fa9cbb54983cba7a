/**
 * What the commands call. Each is one function of the pipeline, loaded when it is
 * wanted, so that `--help` stays quick; tests put others in their place.
 */
import type { PrintOptions } from "../ir/index.js";
import type { CalibrateConfig } from "../pipeline/calibrate/calibrate.js";
import type { Fp16Config, FuseConfig, OptimizeConfig, PruneConfig, RuntimeConfig } from "../pipeline/config.js";
import type { RunContext } from "../pipeline/context.js";
import type { ExplainConfig, Explanation } from "../pipeline/explain/explain.js";
import type { GroupsShown } from "../pipeline/explain/show-groups.js";
import type { GateConfig } from "../pipeline/gate/gate.js";
import type { Inspection } from "../pipeline/inspect/inspect.js";
import type { LoadConfig } from "../pipeline/load/run-load.js";
import type { BenchConfig } from "../pipeline/measure/bench.js";
import type { ProfileConfig } from "../pipeline/profile/run-profile.js";
import type { RunResult } from "../pipeline/result.js";
import type { StagesConfig } from "../pipeline/stages/run-stages.js";
import type { SweepConfig } from "../pipeline/sweep/run-sweep.js";
import type { VerifyConfig } from "../pipeline/verify/verify.js";
import type { PassInfo } from "../report/passes.js";
import type { Finding } from "../runtime/ort/index.js";

type Run<Config> = (config: Config, context: RunContext) => Promise<RunResult>;

export interface MergedRanges {
  readonly samples: number;
  readonly tensors: number;
}

export interface Actions {
  readonly fuse: Run<FuseConfig & { readonly recipe: "fold" | "fuse" }>;
  readonly fp16: Run<Fp16Config>;
  readonly quantize: Run<OptimizeConfig>;
  readonly optimize: Run<OptimizeConfig>;
  readonly optimizePruned: Run<OptimizeConfig>;
  readonly prune: Run<PruneConfig>;
  readonly calibrate: Run<CalibrateConfig>;
  readonly mergeRanges: (parts: readonly string[], output: string) => Promise<MergedRanges>;
  readonly verify: Run<VerifyConfig>;
  readonly bench: Run<BenchConfig>;
  readonly load: Run<LoadConfig>;
  readonly sweep: Run<SweepConfig>;
  readonly stages: Run<StagesConfig>;
  readonly profile: Run<ProfileConfig>;
  readonly gate: Run<GateConfig>;
  readonly inspect: (
    model: string,
    config: RuntimeConfig,
    context: RunContext,
    target: string | null,
  ) => Promise<Inspection>;
  /** A result is explained without a context. */
  readonly explainsResult: (path: string) => Promise<boolean>;
  readonly explain: (config: ExplainConfig, context: RunContext | null) => Promise<Explanation>;
  readonly show: (model: string, options: PrintOptions) => Promise<string>;
  readonly showGroups: (model: string, config: RuntimeConfig, context: RunContext) => Promise<GroupsShown>;
  /** Nodes and operator types of a model as selectors spell them. */
  readonly names: (model: string) => Promise<readonly string[]>;
  readonly doctor: (signal: AbortSignal) => Promise<readonly Finding[]>;
  readonly passes: () => Promise<readonly PassInfo[]>;
}

export const pipelineActions: Actions = {
  fuse: async (config, context) => (await import("../pipeline/prepare/fuse.js")).runFuse(config, context),
  fp16: async (config, context) => (await import("../pipeline/fp16/fp16.js")).runFp16(config, context),
  quantize: async (config, context) => (await import("../pipeline/search/optimize.js")).runQuantize(config, context),
  optimize: async (config, context) => (await import("../pipeline/search/optimize.js")).runOptimize(config, context),
  optimizePruned: async (config, context) =>
    (await import("../pipeline/search/optimize-pruned.js")).runOptimizePruned(config, context),
  prune: async (config, context) => (await import("../pipeline/prune/run-prune.js")).runPrune(config, context),
  calibrate: async (config, context) =>
    (await import("../pipeline/calibrate/calibrate.js")).runCalibrate(config, context),
  mergeRanges: async (parts, output) => {
    const { mergeRangesFiles } = await import("../pipeline/calibrate/calibrate.js");
    const { parts: joined, taps } = mergeRangesFiles(parts, output);
    return { samples: joined.reduce((sum, part) => sum + part.samples, 0), tensors: taps.length };
  },
  verify: async (config, context) => (await import("../pipeline/verify/verify.js")).runVerify(config, context),
  bench: async (config, context) => (await import("../pipeline/measure/bench.js")).runBench(config, context),
  load: async (config, context) => (await import("../pipeline/load/run-load.js")).runLoad(config, context),
  sweep: async (config, context) => (await import("../pipeline/sweep/run-sweep.js")).runSweep(config, context),
  stages: async (config, context) => (await import("../pipeline/stages/run-stages.js")).runStages(config, context),
  profile: async (config, context) => (await import("../pipeline/profile/run-profile.js")).runProfile(config, context),
  gate: async (config, context) => (await import("../pipeline/gate/gate.js")).runGate(config, context),
  inspect: async (model, config, context, target) =>
    (await import("../pipeline/inspect/inspect.js")).runInspect(model, config, context, target),
  explainsResult: async (path) => (await import("../pipeline/explain/explain.js")).isResult(path),
  explain: async (config, context) => (await import("../pipeline/explain/explain.js")).runExplain(config, context),
  show: async (model, options) => (await import("../pipeline/explain/show.js")).showModel(model, options),
  showGroups: async (model, config, context) =>
    (await import("../pipeline/explain/show-groups.js")).showGroups(model, config, context),
  names: async (model) => (await import("../pipeline/explain/show.js")).selectable(model),
  doctor: async (signal) => (await import("../runtime/ort/index.js")).examine(signal),
  passes: async () => {
    const { allPasses, approximations, beforeIntegers, integerJoins, recipes, runtimeFusions } = await import(
      "../passes/catalog.js"
    );
    const { isForOtherTargets } = await import("../rewrite/index.js");
    const commands = {
      fold: recipes.fold,
      fuse: recipes.fuse.filter((pass) => !isForOtherTargets(pass)),
      "fuse --target": recipes.fuse.filter(isForOtherTargets),
      "fuse --runtime-specific": runtimeFusions,
      "fuse --lossy": approximations,
      quantize: [...beforeIntegers, ...integerJoins, ...approximations],
    };
    return allPasses.map(({ name, summary, numerics }) => ({
      name,
      summary,
      numerics,
      recipes: Object.entries(commands).flatMap(([command, passes]) =>
        passes.some((pass) => pass.name === name) ? [command] : [],
      ),
    }));
  },
};
