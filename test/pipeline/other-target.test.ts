import { expect, it } from "vitest";
import { timedOnAnother } from "../../src/pipeline/other-target.js";
import { integerTarget, integerTargetNamed } from "../../src/target/integer-kernels.js";

const named = (name: string) => integerTargetNamed(name, integerTarget("cpu", "x64", ["avx512_vnni"]));

it.each([
  ["ort-cpu-arm64", "x64"],
  ["ort-cpu-arm64-dot", "x64"],
  ["ort-cpu-vnni", "arm64"],
])("%s is timed on another processor on %s, which is told", (name, here) => {
  const [warning] = timedOnAnother(named(name), here);
  expect(warning).toContain(named(name).title);
  expect(warning).toContain(`this ${here} processor`);
});

it.each([
  ["ort-cpu-arm64-dot", "arm64"],
  ["ort-cpu-avx2", "x64"],
  ["ort-cpu", "x64"],
])("%s on %s needs no such word", (name, here) => expect(timedOnAnother(named(name), here)).toEqual([]));
