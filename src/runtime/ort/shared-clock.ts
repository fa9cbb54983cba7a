import { performance } from "node:perf_hooks";

/** Milliseconds by a clock that all processes and threads of the machine share, and that nobody sets while they run. */
export const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A moment of the shared clock by that of this thread (`performance.now`). */
export const ownMs = (sharedMs: number): number => sharedMs - sharedNowMs() + performance.now();
