import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Tensor } from "../../src/ir/index.js";
import { fileSource } from "../../src/onnx/index.js";
import type { InputMoments } from "../../src/quantization/inputs/round-in-view.js";
import { KeptIntegers } from "../../src/quantization/kept-integers.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const inFile = (path: string, offset = 0) => Tensor.fromSource("f32", [2], fileSource(path, offset, 8));
const file = (): string => {
  const path = join(temporaryFolder(), "weights");
  writeFileSync(path, new Uint8Array(16));
  return path;
};

function counting() {
  let made = 0;
  const make = () => {
    made++;
    return { integers: Tensor.ofArray("i8", [2], Int8Array.of(made, made)), scales: Float32Array.of(made) };
  };
  return { make, times: () => made };
}

describe("KeptIntegers", () => {
  it("makes the integers of a weight in a file once", () => {
    const kept = new KeptIntegers();
    const path = file();
    const { make, times } = counting();
    const first = kept.of(inFile(path), "axis 0", make);
    expect(kept.of(inFile(path), "axis 0", make).integers).toBe(first.integers);
    expect(times()).toBe(1);
  });

  it("makes others for another form, place or file", () => {
    const kept = new KeptIntegers();
    const path = file();
    const { make, times } = counting();
    for (const weight of [inFile(path), inFile(path, 8), inFile(file())]) kept.of(weight, "axis 0", make);
    kept.of(inFile(path), "axis 1", make);
    expect(times()).toBe(4);
  });

  it("makes those of a weight in memory each time", () => {
    const kept = new KeptIntegers();
    const { make, times } = counting();
    const weight = Tensor.f32([2], [1, 2]);
    for (let i = 0; i < 2; i++) kept.of(weight, "axis 0", make);
    expect(times()).toBe(2);
  });

  it("gives scales that the caller may raise", () => {
    const kept = new KeptIntegers();
    const path = file();
    const { make } = counting();
    kept.of(inFile(path), "axis 0", make).scales[0] = 99;
    expect([...kept.of(inFile(path), "axis 0", make).scales]).toEqual([1]);
  });

  it("puts what it makes where it is told", () => {
    const elsewhere = Tensor.ofArray("i8", [2], Int8Array.of(7, 7));
    const kept = new KeptIntegers(() => elsewhere);
    expect(kept.of(inFile(file()), "axis 0", counting().make).integers).toBe(elsewhere);
  });

  describe("rounded", () => {
    const momentsOf = (mean: number): InputMoments => ({
      samples: 1,
      means: Float32Array.of(mean),
      spread: new Float32Array(1),
      shared: new Float32Array(1),
    });
    const rounding = () => {
      let made = 0;
      const make = () => ({
        integers: Tensor.ofArray("i8", [2], Int8Array.of(++made, 0)),
        scales: Float32Array.of(0.5 + made),
        shift: Float32Array.of(made),
      });
      return { make, times: () => made };
    };
    const scales = Float32Array.of(0.5);

    it("makes them once with the same inputs and scales in view", () => {
      const kept = new KeptIntegers();
      const [path, moments] = [file(), momentsOf(1)];
      const { make, times } = rounding();
      const first = kept.rounded(inFile(path), "form", moments, scales, make);
      const again = kept.rounded(inFile(path), "form", moments, scales.slice(), make);
      expect(again.integers).toBe(first.integers);
      expect([...again.shift!]).toEqual([1]);
      expect([...again.scales]).toEqual([1.5]);
      expect(times()).toBe(1);
    });

    it("makes others for other inputs, scales, forms and weights", () => {
      const kept = new KeptIntegers();
      const [path, moments] = [file(), momentsOf(1)];
      const { make, times } = rounding();
      kept.rounded(inFile(path), "form", moments, scales, make);
      kept.rounded(inFile(path), "form", momentsOf(2), scales, make);
      kept.rounded(inFile(path), "other form", moments, scales, make);
      kept.rounded(inFile(path, 8), "form", moments, scales, make);
      kept.rounded(inFile(path), "form", moments, Float32Array.of(0.25), make);
      expect(times()).toBe(5);
    });

    it("holds on to scales that the caller raises later", () => {
      const kept = new KeptIntegers();
      const [path, moments] = [file(), momentsOf(1)];
      const { make, times } = rounding();
      const own = scales.slice();
      kept.rounded(inFile(path), "form", moments, own, make);
      own[0] = 2;
      kept.rounded(inFile(path), "form", moments, own, make);
      expect(times()).toBe(2);
    });

    it("makes those of a weight in memory each time", () => {
      const kept = new KeptIntegers();
      const moments = momentsOf(1);
      const { make, times } = rounding();
      const weight = Tensor.f32([2], [1, 2]);
      for (let i = 0; i < 2; i++) kept.rounded(weight, "form", moments, scales, make);
      expect(times()).toBe(2);
    });
  });
});
