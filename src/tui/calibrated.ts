import type { RunResult } from "../pipeline/result.js";
export interface CandidateRange {
  readonly method: string;
  readonly low: number;
  readonly high: number;
  readonly clippedShare: number;
}
export interface CalibratedTensor {
  readonly tensor: string;
  readonly elements: number;
  readonly min: number;
  readonly max: number;
  readonly histogram: { readonly from: number; readonly width: number; readonly counts: readonly number[] };
  readonly ranges: readonly CandidateRange[];
  readonly chosen: string | null;
}
export const calibrationOf = (result: RunResult) =>
  (result as RunResult & { calibration?: { tensors: readonly CalibratedTensor[]; of: number } }).calibration;
