/** How a model is opened and run, in words of our own. */
export interface SessionOptions {
  /** Execution provider as ONNX Runtime spells it: cpu, cuda, dml, coreml, ... */
  readonly provider: string;
  /** Threads inside one operator. */
  readonly threads: number;
  /**
   * How threads wait for work: asleep, which leaves their core to others; or awake within a run and asleep after it, for models
   * that take turns. When absent, awake, which is a little sooner, and after a run for as long as the runtime takes to give up:
   * tens of milliseconds in which another model lacks the core.
   */
  readonly waiting?: "asleep" | "asleep-after-runs";
  /** How much the runtime may rewrite the graph when it loads it. */
  readonly optimization: "disabled" | "basic" | "extended" | "all";
  /** No sum of products of 8 bits saturates, which takes longer on x86 without VNNI; other processors' never do. */
  readonly isExact?: boolean;
  /** Run on cpu when the provider is missing; without it a missing provider is an error. */
  readonly allowFallback?: boolean;
  /** Processors that what is timed is kept on; anywhere when absent. */
  readonly affinity?: readonly number[];
  /** Milliseconds without a sign of life (a sample done) after which a job is given up and its process killed. */
  readonly timeoutMs?: number;
}
