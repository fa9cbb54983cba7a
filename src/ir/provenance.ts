/**
 * Names of nodes, gathered without copying: a node that stands for two others keeps what
 * these stood for as it is. Merged one by one, n nodes cost n steps, not n * n.
 */
export type Origins = string | readonly Origins[];

/** The names in order, each once. Parts that are shared are visited once. */
export function namesIn(origins: Origins): string[] {
  const names = new Set<string>();
  const seen = new Set<Origins>();
  const pending: Origins[] = [origins];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (typeof at === "string") {
      names.add(at);
    } else if (!seen.has(at)) {
      seen.add(at);
      for (let i = at.length - 1; i >= 0; i--) pending.push(at[i]!);
    }
  }
  return [...names];
}
