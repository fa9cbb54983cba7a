/** Whether one of two is ahead of the other by what it gains in each respect: worse in none, better in one (Pareto). */
export const exceeds = (gains: readonly number[]): boolean =>
  gains.every((gain) => gain >= 0) && gains.some((gain) => gain > 0);
