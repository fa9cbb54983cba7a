/** The public API: everything the command line does, without the command line. */
export { type FaultKind, InferOptError } from "./base/errors.js";
export type { Dataset, DatasetRef, Sample } from "./dataset/index.js";
export {
  type Graph,
  loadModel,
  type Model,
  type Node,
  parseModel,
  printGraph,
  saveModel,
  Tensor,
  type Value,
} from "./ir/index.js";
export { builtinMetrics, type MetricRef, parseMetric } from "./metric/index.js";
export { catalog, recipes } from "./passes/catalog.js";
export { type CalibrateConfig, mergeRangesFiles, runCalibrate } from "./pipeline/calibrate/calibrate.js";
export type {
  DataConfig,
  DropLimit,
  Fp16Config,
  FuseConfig,
  GraphConfig,
  LatencyLimit,
  Limits,
  OptimizeConfig,
  OutputConfig,
  QuantizeConfig,
  RuntimeConfig,
  Selection,
} from "./pipeline/config.js";
export type { RunContext } from "./pipeline/context.js";
export type { Observer, RunEvent, Stage } from "./pipeline/events.js";
export { type ExplainConfig, type Explanation, runExplain } from "./pipeline/explain/explain.js";
export { showModel } from "./pipeline/explain/show.js";
export { runFp16 } from "./pipeline/fp16/fp16.js";
export { type GateConfig, runGate } from "./pipeline/gate/gate.js";
export { type Inspection, runInspect } from "./pipeline/inspect/inspect.js";
export { type BenchConfig, runBench } from "./pipeline/measure/bench.js";
export { runFuse } from "./pipeline/prepare/fuse.js";
export type { RunResult, Verdict } from "./pipeline/result.js";
export { runOptimize, runQuantize } from "./pipeline/search/optimize.js";
export { runStages, type StagesConfig } from "./pipeline/stages/run-stages.js";
export { runVerify, type VerifyConfig } from "./pipeline/verify/verify.js";
export { renderJunit } from "./report/junit.js";
export { renderMarkdown } from "./report/markdown.js";
export { type Palette, palette } from "./report/palette.js";
export { readResult } from "./report/read-result.js";
export { renderText } from "./report/text.js";
export { readEnvironment } from "./runtime/environment.js";
export { examine, type OrtRuntime, type OrtRuntimeOptions, ortRuntime } from "./runtime/ort/index.js";
export type { Runtime } from "./runtime/port.js";
