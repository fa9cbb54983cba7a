import { expect, it } from "vitest";
import { whyFloatInput, whyNoGain } from "../../../src/pipeline/place/float-reasons.js";

const time = (beforeMs: number, kernelMs: number, conversionMs = 0) => ({ beforeMs, kernelMs, conversionMs });

it("what is slower does not pay, what gains little is called so, and what pays goes with its neighbours", () => {
  expect(whyNoGain(time(1, 0.8, 0.3), 0)).toBe(
    "does not pay: 0.800 ms as integers and 0.300 ms for conversions, 1.0 ms in float",
  );
  expect(whyNoGain(time(10, 9), 0.15)).toMatch(/^gains little/);
  expect(whyNoGain(time(10, 9), -0.1)).toMatch(/^would pay beside integers alone/);
  expect(whyNoGain(time(10, 5), 0.15)).toMatch(/^would pay beside integers alone/);
});

it("what reads the inputs is told by what float costs there", () => {
  expect(whyFloatInput(time(2, 1.5))).toMatch(/^reads the inputs: 0\.500 ms slower in float/);
  expect(whyFloatInput(time(2, 2))).toMatch(/no faster: 2\.0 ms as integers/);
});
