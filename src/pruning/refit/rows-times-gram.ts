/**
 * Several rows of weights times a Gram matrix: four of its rows at a time and for all rows of weights together, so that a matrix
 * that is larger than the cache is read once for all of them.
 */

/** So many rows go together: their images stay in the cache. */
export const ROWS_TOGETHER = 16;

/**
 * `images` becomes R G: R are `count` rows that begin at `from`, G the square matrix that begins at `gramFrom`.
 */
export function rowsTimesGram(
  images: Float64Array,
  rows: Float64Array,
  from: number,
  count: number,
  inputs: number,
  gram: Float64Array,
  gramFrom = 0,
): void {
  images.fill(0, 0, count * inputs);
  const last = inputs - 1;
  for (let i = 0; i < inputs; i += 4) {
    // What is beyond the last row of G counts nothing.
    const [b, c, d] = [Math.min(i + 1, last), Math.min(i + 2, last), Math.min(i + 3, last)];
    const [ga, gb, gc, gd] = [i, b, c, d].map((row) => gramFrom + row * inputs) as [number, number, number, number];
    for (let row = 0; row < count; row++) {
      const at = from + row * inputs;
      const wa = rows[at + i]!;
      const wb = i + 1 < inputs ? rows[at + b]! : 0;
      const wc = i + 2 < inputs ? rows[at + c]! : 0;
      const wd = i + 3 < inputs ? rows[at + d]! : 0;
      if (wa === 0 && wb === 0 && wc === 0 && wd === 0) continue;
      const to = row * inputs;
      for (let j = 0; j < inputs; j++)
        images[to + j]! += wa * gram[ga + j]! + wb * gram[gb + j]! + wc * gram[gc + j]! + wd * gram[gd + j]!;
    }
  }
}
