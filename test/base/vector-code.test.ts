import { afterEach, describe, expect, it, vi } from "vitest";
import { vectorCode } from "../../src/base/vector-code.js";

const base64 = (...bytes: number[]): string =>
  Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...bytes]).toString("base64");

afterEach(() => vi.unstubAllGlobals());

describe("vectorCode", () => {
  it("gives what the code exports", () => {
    // (module (memory (export "m") 1))
    expect(vectorCode(base64(5, 3, 1, 0, 1, 7, 5, 1, 1, 0x6d, 2, 0))).toHaveProperty("m");
  });

  it("gives each caller memory of its own", () => {
    const code = base64(5, 3, 1, 0, 1, 7, 5, 1, 1, 0x6d, 2, 0);
    const [one, other] = [vectorCode(code), vectorCode(code)] as { m: object }[];
    expect(one!.m).not.toBe(other!.m);
  });

  it("gives null where there is no memory for it, and hides no other fault", () => {
    const failing = (error: Error) => ({
      validate: () => true,
      Module: class {},
      Instance: class {
        constructor() {
          throw error;
        }
      },
    });
    vi.stubGlobal("WebAssembly", failing(new RangeError("Out of memory: Cannot allocate Wasm memory")));
    expect(vectorCode(base64())).toBeNull();
    vi.stubGlobal("WebAssembly", failing(new TypeError("imports")));
    expect(() => vectorCode(base64())).toThrow("imports");
  });

  it("gives null for instructions that the engine does not know", () => {
    // A function of one instruction that does not exist: 0xff.
    expect(vectorCode(base64(1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 5, 1, 3, 0, 0xff, 0x0b))).toBeNull();
  });
});
