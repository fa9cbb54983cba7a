import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { mapChannels } from "../../../src/quantization/outputs/map-channels.js";

const random = seededRandom(5);
const numbers = (count: number): number[] => Array.from({ length: count }, () => random.next() - 0.5);

/** As it is defined: w'[c] = factor w[c] + sum over i of to[i][c] * (sum over d of from[i][d] w[d]), in doubles, one after the other. */
function byDefinition(
  rows: readonly (readonly number[])[],
  factor: number,
  to: readonly number[],
  from: readonly number[],
  count: number,
): number[][] {
  const channels = rows.length;
  return rows.map((row, c) =>
    row.map((value, o) => {
      let sum = Math.fround(value * factor);
      for (let i = 0; i < count; i++) {
        let along = 0;
        for (let d = 0; d < channels; d++) along += from[i * channels + d]! * rows[d]![o]!;
        sum += to[i * channels + c]! * along;
      }
      return Math.fround(sum);
    }),
  );
}

describe("weights by channels", () => {
  it.each([
    [1, 1, 1],
    [4, 3, 4],
    [5, 7, 8],
    [6, 1, 9],
    [11, 5, 3],
    [2, 4, 2],
  ])(
    "of %i channels with %i weights and %i directions are what the matrix makes of them, to the bit",
    (channels, others, count) => {
      const rows = Array.from({ length: channels }, () => numbers(others).map(Math.fround));
      const [to, from] = [numbers(count * channels), numbers(count * channels)];
      const directions = { count, to: Float64Array.from(to), from: Float64Array.from(from) };
      const expected = byDefinition(rows, 0.75, to, from, count);
      const first = Float32Array.from(rows.flat());
      expect([...mapChannels(first, channels, 0, 0.75, directions)]).toEqual(expected.flat());
      const columns = Float32Array.from(
        { length: channels * others },
        (_, i) => rows[i % channels]![Math.floor(i / channels)]!,
      );
      const last = Array.from(
        { length: channels * others },
        (_, i) => expected[i % channels]![Math.floor(i / channels)]!,
      );
      expect([...mapChannels(columns, channels, 1, 0.75, directions)]).toEqual(last);
    },
  );

  it("are multiplied by the factor alone where there is no matrix", () => {
    expect([...mapChannels(Float32Array.of(1, -2, 3, 4), 2, 0, 0.5, null)]).toEqual([0.5, -1, 1.5, 2]);
  });
});
