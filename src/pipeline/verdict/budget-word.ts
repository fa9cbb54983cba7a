/** A time as `--budget` takes it, rounded up: "74s", and "20m" where seconds are many. */
export function budgetWord(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds}s` : `${Math.ceil(seconds / 60)}m`;
}

/** The same of one that was given, as it was. */
export function givenBudget(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  return ms >= 120_000 && ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}
