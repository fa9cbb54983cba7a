import { describe, expect, it } from "vitest";
import { type Transform, transformMatrix } from "../../../../src/passes/linear/fourier/transform.js";
import { fasterFactors, isFasterAsMatrix } from "../../../../src/passes/linear/fourier/transform-cost.js";

type Complex = readonly [re: number, im: number];

const signal = (places: number): Complex[] =>
  Array.from({ length: places }, (_, n) => [Math.sin(3 * n + 1), Math.cos(5 * n * n)]);

/** By the definition: each place is turned by its angle and added up. */
function defined(x: readonly Complex[], length: number, sign: 1 | -1): Complex[] {
  return Array.from({ length }, (_, k) => {
    let [re, im] = [0, 0];
    for (const [n, [a, b]] of x.slice(0, length).entries()) {
      const angle = (sign * 2 * Math.PI * k * n) / length;
      re += a * Math.cos(angle) - b * Math.sin(angle);
      im += a * Math.sin(angle) + b * Math.cos(angle);
    }
    return [re, im];
  });
}

function multiplied(transform: Transform, x: readonly Complex[]): number[][] {
  const { from, to } = transform;
  const matrix = transformMatrix(transform);
  const given = x.flatMap((each) => each.slice(0, from.parts));
  const sums = Array.from({ length: to.parts * to.places }, (_, row) =>
    given.reduce((sum, value, column) => sum + value * matrix[row * given.length + column]!, 0),
  );
  return Array.from({ length: to.places }, (_, place) =>
    Array.from({ length: to.parts }, (_, part) => sums[part * to.places + place]!),
  );
}

const near = (values: readonly (readonly number[])[]) =>
  values.map((each) => each.map((value) => expect.closeTo(value, 10) as number));
const real = (x: readonly Complex[]): Complex[] => x.map(([a]) => [a, 0]);

describe("transformMatrix", () => {
  it.each([
    [8, 8],
    [9, 9],
    [6, 10],
  ])("transforms %i complex places to %i bins, both ways", (places, length) => {
    const x = signal(places);
    const sides = { from: { parts: 2, places }, to: { parts: 2, places: length } } as const;
    expect(multiplied({ length, inverse: false, ...sides }, x)).toEqual(near(defined(x, length, -1)));
    const back = defined(x, length, 1).map(([a, b]) => [a / length, b / length]);
    expect(multiplied({ length, inverse: true, ...sides }, x)).toEqual(near(back));
  });

  it.each([8, 9, 1, 2])("transforms %i real places to half of the bins", (length) => {
    const x = signal(length);
    const half = Math.floor(length / 2) + 1;
    const transform = {
      length,
      inverse: false,
      from: { parts: 1, places: length },
      to: { parts: 2, places: half },
    } as const;
    expect(multiplied(transform, x)).toEqual(near(defined(real(x), length, -1).slice(0, half)));
  });

  it.each([8, 9, 1, 2])(
    "transforms half of the bins back to %i real places, whatever is imaginary of the first and the middle",
    (length) => {
      const half = Math.floor(length / 2) + 1;
      const bins = signal(half);
      const isOwnConjugate = (k: number): boolean => k === 0 || 2 * k === length;
      const all = Array.from({ length }, (_, k): Complex => {
        const [a, b] = bins[k < half ? k : length - k]!;
        return [a, isOwnConjugate(k) ? 0 : k < half ? b : -b];
      });
      const transform = {
        length,
        inverse: true,
        from: { parts: 2, places: half },
        to: { parts: 1, places: length },
      } as const;
      expect(multiplied(transform, bins)).toEqual(near(defined(all, length, 1).map(([a]) => [a / length])));
    },
  );

  it("has exact zeros and ones at quarters", () => {
    const transform = {
      length: 4,
      inverse: false,
      from: { parts: 1, places: 4 },
      to: { parts: 2, places: 3 },
    } as const;
    const matrix = transformMatrix(transform);
    expect([...matrix].map((weight) => weight + 0)).toEqual([
      1, 1, 1, 1, 1, 0, -1, 0, 1, -1, 1, -1, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0,
    ]);
  });
});

describe("isFasterAsMatrix", () => {
  const half = (length: number): Transform => ({
    length,
    inverse: false,
    from: { parts: 1, places: length },
    to: { parts: 2, places: Math.floor(length / 2) + 1 },
  });

  it("is slower for long powers of two, and for few rows of shorter ones", () => {
    expect(isFasterAsMatrix(half(512), 100)).toBe(true);
    expect(isFasterAsMatrix(half(1024), 100)).toBe(false);
    expect(isFasterAsMatrix(half(512), 1)).toBe(false);
    expect(isFasterAsMatrix(half(512), 9)).toBe(false);
    expect(isFasterAsMatrix(half(512), 10)).toBe(true);
  });

  it("is faster for other lengths as long as the matrix is small", () => {
    expect(isFasterAsMatrix(half(400), 1)).toBe(true);
    expect(isFasterAsMatrix(half(1000), 100)).toBe(true);
    expect(isFasterAsMatrix(half(1440), 100)).toBe(false);
  });
});

describe("fasterFactors", () => {
  const half = (length: number, inverse = false): Transform => {
    const [places, bins] = [
      { parts: 1, places: length } as const,
      { parts: 2, places: Math.floor(length / 2) + 1 } as const,
    ];
    return inverse ? { length, inverse, from: bins, to: places } : { length, inverse, from: places, to: bins };
  };
  const any = (): boolean => true;

  it("takes factors of like size for long transforms, there and back", () => {
    expect(fasterFactors(half(1024), 50, any)).toEqual({ first: 32, second: 32 });
    expect(fasterFactors(half(1024, true), 50, any)).toEqual({ first: 32, second: 32 });
    expect(fasterFactors(half(400), 50, any)).toEqual({ first: 25, second: 16 });
  });

  it("takes none where the first must divide what it does not", () => {
    expect(fasterFactors(half(512), 50, (first) => 31 % first === 0)).toBeNull();
    expect(fasterFactors(half(512), 50, (first) => 8 % first === 0)).toEqual({ first: 8, second: 64 });
  });

  it("takes none for short transforms, for prime lengths, few rows and what is no whole transform", () => {
    expect(fasterFactors(half(32), 50, any)).toBeNull();
    expect(fasterFactors(half(509), 50, any)).toBeNull();
    expect(fasterFactors(half(512), 1, any)).toBeNull();
    expect(fasterFactors({ ...half(512), from: { parts: 1, places: 500 } }, 50, any)).toBeNull();
  });

  it("takes none for fewer rows than its nodes are worth, or its moves", () => {
    const complex = (length: number): Transform => {
      const side = { parts: 2, places: length } as const;
      return { length, inverse: false, from: side, to: side };
    };
    const best = { first: 16, second: 16 };
    expect(fasterFactors(complex(256), 4, any)).toBeNull();
    expect(fasterFactors(complex(256), 5, any)).toEqual(best);
    expect(fasterFactors(complex(256), 6, any, 1024)).toBeNull();
    expect(fasterFactors(complex(256), 7, any, 1024)).toEqual(best);
    expect(fasterFactors(half(256), 7, any)).toBeNull();
    expect(fasterFactors(half(256), 8, any)).toEqual(best);
  });

  it("takes none whose weights are many", () => {
    expect(fasterFactors(half(2 ** 15), 50, any)).toBeNull();
  });
});
