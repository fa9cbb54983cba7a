import type { MachineState } from "../runtime/machine-state.js";
import type { Runtime } from "../runtime/port.js";
import type { Observer } from "./events.js";
import type { EnvironmentFacts } from "./result.js";

/** What a run needs from the outside world. */
export interface RunContext {
  readonly runtime: Runtime;
  readonly environment: EnvironmentFacts;
  readonly observer: Observer;
  /** Aborted when the user interrupts: the run stops at the next step and rejects with INTERRUPTED. */
  readonly signal: AbortSignal;
  readonly toolVersion: string;
  /** What there was to warn of before the run, and was told then. */
  readonly warnings?: readonly string[];
  /** What else decides how fast models run here, at this moment; nobody looks where it is absent. */
  readonly machineState?: () => MachineState;
  /** Milliseconds from any fixed moment. */
  readonly now: () => number;
  /** A folder for files that live as long as the run. */
  readonly scratch: string;
  /** Of models in it that are others in another form, or made of one: what to call them in errors. */
  readonly origins?: Map<string, string>;
}
