/** Milliseconds by a clock that all processes and threads of the machine share, and that nobody sets while they run. */
export const sharedNowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
