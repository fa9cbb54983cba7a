export { type OrtRuntime, type OrtRuntimeOptions, ortRuntime } from "./client.js";
export { examine, type Finding } from "./doctor.js";
export type { RuntimeFacts } from "./protocol.js";
