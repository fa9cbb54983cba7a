/** Code for the engine's vector instructions, as the bytes of a WebAssembly module that needs nothing from outside. */

/** What is used of the engine's global; neither ES2023 nor Node's types declare it. */
declare const WebAssembly:
  | {
      validate(bytes: Uint8Array): boolean;
      readonly Module: new (bytes: Uint8Array) => object;
      readonly Instance: new (module: object) => { readonly exports: unknown };
    }
  | undefined;

/**
 * What a new instance with memory of its own exports; null where the engine does not know the instructions, or may not
 * have the memory: it reserves gigabytes of addresses, more than `ulimit -v` may allow.
 *
 * @param code in base 64
 */
export function vectorCode(code: string): unknown {
  const bytes = Buffer.from(code, "base64");
  if (typeof WebAssembly === "undefined" || !WebAssembly.validate(bytes)) return null;
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return null;
  }
}
