/** What stayed float, and why, with the same reason told once. */

export interface ReasonGroup {
  readonly reason: string;
  readonly nodes: readonly string[];
}

/**
 * Most frequent first; equally frequent ones in order of appearance. Reasons that differ
 * in the figures after their colon only are one group, told without them.
 */
export function byReason(entries: readonly { readonly node: string; readonly reason: string }[]): ReasonGroup[] {
  const groups = new Map<string, { reason: string; nodes: string[] }>();
  for (const { node, reason } of entries) {
    const key = reason.replace(/:.*/s, (tail) => tail.replace(/[\d.]+/g, "#"));
    const group = groups.get(key);
    if (!group) groups.set(key, { reason, nodes: [node] });
    else {
      group.nodes.push(node);
      if (group.reason !== reason) group.reason = reason.slice(0, reason.indexOf(":"));
    }
  }
  return [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}
