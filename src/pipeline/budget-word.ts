/** A time as `--budget` takes it, rounded up: "74s", and "20m" where seconds are many. */
export function budgetWord(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? `${seconds}s` : `${Math.ceil(seconds / 60)}m`;
}
