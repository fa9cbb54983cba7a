import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../src/base/random.js";
import { fitInputs, type InputsFit } from "../../../src/quantization/outputs/fit-inputs.js";
import { areWorse, leftOutGainDb } from "../../../src/quantization/outputs/left-out.js";

const WIDTH = 200;
const ANSWERS = 2;

interface Noise {
  /** Standard deviations: of what differs along one direction, across it, and of rounding. */
  readonly along: number;
  readonly across: number;
  readonly rounding: number;
  readonly shift?: number;
}

/** Samples of what a product reads, and its answers. The direction, the weights and the shift are the same for all seeds. */
function draw(samples: number, { along, across, rounding, shift = 0 }: Noise, seed: number) {
  const fixed = seededRandom(1);
  const numbers = (count: number): Float64Array => Float64Array.from({ length: count }, () => fixed.normal());
  const axis = numbers(WIDTH);
  const weights = numbers(ANSWERS * WIDTH);
  const shifts = numbers(WIDTH);
  const random = seededRandom(seed);
  const floats = new Float64Array(samples * WIDTH);
  for (let s = 0; s < samples; s++) {
    const at = along * random.normal();
    for (let k = 0; k < WIDTH; k++) floats[s * WIDTH + k] = 3 + at * axis[k]! + across * random.normal();
  }
  const integers = floats.map((value, i) => value + rounding * random.normal() + shift * shifts[i % WIDTH]!);
  const answersOf = (rows: Float64Array): Float64Array =>
    Float64Array.from({ length: samples * ANSWERS }, (_, i) => {
      const [s, c] = [Math.floor(i / ANSWERS), i % ANSWERS];
      let sum = 0;
      for (let k = 0; k < WIDTH; k++) sum += weights[c * WIDTH + k]! * rows[s * WIDTH + k]!;
      return sum;
    });
  const rows = { samples, y: answersOf(floats), z: answersOf(integers) };
  return { rows, inputs: { floats, integers }, weights };
}

type Drawn = ReturnType<typeof draw>;

const meanOf = (rows: Float64Array, width: number): Float64Array =>
  Float64Array.from({ length: width }, (_, c) => {
    const own = rows.filter((_, i) => i % width === c);
    return own.reduce((sum, value) => sum + value, 0) / own.length;
  });

/** dB that it gains of answers to other samples. */
function gainOn(others: Drawn, fit: InputsFit, mean: Float64Array): number {
  const { factor, along, shift } = fit;
  let [before, after] = [0, 0];
  for (let s = 0; s < others.rows.samples; s++) {
    const read = others.inputs.integers.subarray(s * WIDTH, (s + 1) * WIDTH);
    const place = read.reduce((sum, value, k) => sum + value * along.direction[k]!, 0) - along.mean;
    for (let c = 0; c < ANSWERS; c++) {
      const [y, z] = [others.rows.y[s * ANSWERS + c]!, others.rows.z[s * ANSWERS + c]!];
      const own = along.direction.reduce((sum, value, k) => sum + value * others.weights[c * WIDTH + k]!, 0);
      const made = mean[c]! + factor * (z - mean[c]!) + (along.factor - factor) * own * place + shift[c]!;
      before += (y - z) ** 2;
      after += (y - made) ** 2;
    }
  }
  return 10 * Math.log10(before / after);
}

describe("fitInputs", () => {
  it("keeps what lies along the first principal component, and lets go of what is noise across it", () => {
    const noise = { along: 2, across: 0.5, rounding: 0.5 };
    const seen = draw(16, noise, 2);
    const fit = fitInputs(seen.rows, seen.inputs)!;
    expect(fit.factor).toBeCloseTo(0.5, 1);
    expect(Math.abs(fit.along.factor - 1)).toBeLessThan(0.1);
    expect(fit.along.direction.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1, 9);
    expect(fit.gainDb).toBeGreaterThan(2);
    const others = draw(400, noise, 3);
    const gained = gainOn(others, fit, meanOf(seen.rows.z, ANSWERS));
    expect(gained).toBeGreaterThan(1.5);
    expect(Math.abs(gained - fit.gainDb)).toBeLessThan(1);
    expect(areWorse(fit.leftOut)).toBe(false);
  });

  it("takes back a shift that exceeds chance, and no other", () => {
    const noise = { along: 1, across: 1, rounding: 0.1 };
    const shifted = draw(16, { ...noise, shift: 1 }, 4);
    const fit = fitInputs(shifted.rows, shifted.inputs)!;
    expect(gainOn(draw(200, { ...noise, shift: 1 }, 5), fit, meanOf(shifted.rows.z, ANSWERS))).toBeGreaterThan(10);
    expect(leftOutGainDb(fit.leftOut)).toBeGreaterThan(10);
    const plain = draw(16, noise, 6);
    const { shift } = fitInputs(plain.rows, plain.inputs)!;
    // What sixteen samples show by chance: 0.1 * sqrt(200 / 16).
    for (const each of shift) expect(Math.abs(each)).toBeLessThan(0.1);
  });

  it("believes answers that differ from what is expected of them, where they say so surely", () => {
    // Half of what is read is noise, and none of it reaches the answers.
    const seen = draw(32, { along: 0.01, across: 1, rounding: 0 }, 7);
    const random = seededRandom(8);
    const integers = seen.inputs.integers.map((value) => value + random.normal());
    const fit = fitInputs(seen.rows, { ...seen.inputs, integers })!;
    expect(fit.factor).toBeGreaterThan(0.7);
  });

  it("changes nothing of what is exact, and is null of too few samples, of no differences and of what is no number", () => {
    const exact = draw(16, { along: 1, across: 1, rounding: 0 }, 8);
    expect(fitInputs(exact.rows, exact.inputs)).toMatchObject({ gainDb: 0 });
    expect(fitInputs(exact.rows, exact.inputs)!.factor).toBeCloseTo(1, 9);
    const few = draw(15, { along: 1, across: 1, rounding: 1 }, 9);
    expect(fitInputs(few.rows, few.inputs)).toBeNull();
    const same = draw(16, { along: 0, across: 0, rounding: 0 }, 10);
    expect(fitInputs(same.rows, same.inputs)).toBeNull();
    const odd = draw(16, { along: 1, across: 1, rounding: 1 }, 11);
    odd.inputs.integers[5] = Number.NaN;
    expect(fitInputs(odd.rows, odd.inputs)).toBeNull();
  });
});
