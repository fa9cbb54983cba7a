/** onnxruntime-node, loaded once and only in the child. */
import type * as Ort from "onnxruntime-node";
import { InferOptError, messageOf } from "../../../base/errors.js";
import type { JobHandler } from "../protocol.js";

export type OrtModule = typeof Ort;

let loading: Promise<OrtModule> | null = null;

/** When this process came to its own first lines; and what loading the library took, once it is there. Milliseconds. */
export const startedMs = performance.now();
export let loadedInMs = 0;

/** Rejects with RUNTIME_UNAVAILABLE when the package or its native library does not load. */
export function loadOrt(): Promise<OrtModule> {
  return (loading ??= load());
}

export const facts: JobHandler<"facts"> = async () => {
  const ort = await loadOrt();
  return {
    version: ort.env.versions.node ?? "unknown",
    providers: ort.listSupportedBackends().map(({ name, bundled }) => ({ name, bundled })),
  };
};

async function load(): Promise<OrtModule> {
  // Where float16 arrays exist the package hands them out, but its native half only
  // takes Uint16Array. Without the class it uses bits everywhere, on every Node.
  Reflect.deleteProperty(globalThis, "Float16Array");
  const from = performance.now();
  try {
    const loaded = await import("onnxruntime-node");
    loadedInMs = performance.now() - from;
    return (loaded as unknown as { default?: OrtModule }).default ?? loaded;
  } catch (cause) {
    const reason = messageOf(cause).split("\n")[0]!;
    throw new InferOptError("RUNTIME_UNAVAILABLE", "runtime", `onnxruntime-node does not load: ${reason}`, {
      hint: cureFor(reason),
      cause,
      fields: { platform: process.platform, arch: process.arch, node: process.version },
    });
  }
}

function cureFor(reason: string): string {
  if (process.platform === "darwin" && process.arch === "x64") {
    return "onnxruntime-node 1.30 has no build for Macs with Intel CPUs; use a Linux container there.";
  }
  if (/musl|ld-linux|GLIBC/i.test(reason)) {
    return "The native library needs a recent glibc: use an image such as node:22-bookworm instead of Alpine.";
  }
  if (/Cannot find (package|module) 'onnxruntime-node\b/.test(reason)) return "Run `npm ci` once more.";
  return "Remove node_modules and run `npm ci`; the package ships builds for x64 and arm64 of Linux and Windows, and arm64 of macOS.";
}
