/** Number of insertions, deletions and substitutions that turn `a` into `b` (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** The name most like `wanted`, letter case aside; null when `names` is empty. The first of equals. */
export function nearestName(wanted: string, names: Iterable<string>): string | null {
  let best: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance < least) {
      best = name;
      least = distance;
    }
  }
  return best;
}

/** Of the letters of the longer name, how many may be wrong for it to be what was meant. */
const LIKELY_EDITS = 0.4;

/** The name that was probably meant: mistyped, or given in part. null when none is like it. */
export function likelyName(wanted: string, names: Iterable<string>): string | null {
  const all = [...names];
  const nearest = nearestName(wanted, all);
  if (nearest === null || wanted === "") return null;
  const most = Math.max(wanted.length, nearest.length) * LIKELY_EDITS;
  if (editDistance(wanted.toLowerCase(), nearest.toLowerCase()) <= most) return nearest;
  const part = wanted.toLowerCase();
  return (part.length > 2 && all.find((name) => name.toLowerCase().includes(part))) || null;
}
