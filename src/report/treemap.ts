/** Rectangles whose areas are as their weights, near to squares (Bruls, Huizing and van Wijk, "Squarified treemaps", 2000). */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** @param weights above 0, the largest first */
export function treemap(weights: readonly number[], area: Rectangle): Rectangle[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const sizes = weights.map((weight) => (weight / total) * area.width * area.height);
  const placed: Rectangle[] = [];
  let left = area;
  for (let from = 0; from < sizes.length; ) {
    const side = Math.min(left.width, left.height);
    let to = from + 1;
    while (to < sizes.length && worst(sizes.slice(from, to + 1), side) <= worst(sizes.slice(from, to), side)) to++;
    const row = sizes.slice(from, to);
    const thick = row.reduce((sum, size) => sum + size, 0) / side || 0;
    let at = 0;
    for (const size of row) {
      const long = size / thick || 0;
      placed.push(
        left.width >= left.height
          ? { x: left.x, y: left.y + at, width: thick, height: long }
          : { x: left.x + at, y: left.y, width: long, height: thick },
      );
      at += long;
    }
    left =
      left.width >= left.height
        ? { ...left, x: left.x + thick, width: left.width - thick }
        : { ...left, y: left.y + thick, height: left.height - thick };
    from = to;
  }
  return placed;
}

/** How far from a square the worst of a row is, laid along a side. */
function worst(row: readonly number[], side: number): number {
  const sum = row.reduce((total, size) => total + size, 0);
  return Math.max((side * side * Math.max(...row)) / (sum * sum), (sum * sum) / (side * side * Math.min(...row)));
}
