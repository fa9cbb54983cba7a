export interface Chance {
  next(): number;
  normal(): number;
}

export interface LatencySource {
  quantile(p: number): number;
  series(random: Chance): () => number;
}

export function chance(seed: number): Chance;
export const latencySources: Readonly<Record<string, LatencySource>>;
export const beyondSources: Readonly<Record<string, LatencySource>>;
