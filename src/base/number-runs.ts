/** `0-2` and `8` of [0, 1, 2, 8]: runs of numbers that follow each other, in ascending order. */
export function numberRuns(numbers: readonly number[]): readonly string[] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
}
