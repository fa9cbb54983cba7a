/** Configurations for tests of the pipeline: the defaults, but for what a test is about. */
import type { Limits, RuntimeConfig } from "../../src/pipeline/config.js";

export const limitsOf = (limits: Partial<Limits> = {}): Limits => ({
  maxDrop: null,
  minSpeedup: null,
  slo: [],
  maxSizeBytes: null,
  confidence: null,
  ...limits,
});

export const runtimeConfig = (config: Partial<RuntimeConfig> = {}): RuntimeConfig => ({
  provider: "cpu",
  threads: 1,
  allowFallback: false,
  seed: 1,
  shapes: new Map(),
  batch: 1,
  benchMs: 2000,
  maxMemoryBytes: 2 ** 28,
  ...config,
});
