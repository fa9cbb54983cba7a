/** What stayed float, and why, with the same reason told once. */

export interface ReasonGroup {
  readonly reason: string;
  readonly nodes: readonly string[];
}

/** Most frequent first; equally frequent ones in order of appearance. */
export function byReason(entries: readonly { readonly node: string; readonly reason: string }[]): ReasonGroup[] {
  const groups = new Map<string, string[]>();
  for (const { node, reason } of entries) {
    const nodes = groups.get(reason);
    if (nodes) nodes.push(node);
    else groups.set(reason, [node]);
  }
  return [...groups].map(([reason, nodes]) => ({ reason, nodes })).sort((a, b) => b.nodes.length - a.nodes.length);
}
