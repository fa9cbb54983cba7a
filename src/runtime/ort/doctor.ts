/** What this machine can run, and the cure for what it cannot: data for the `doctor` command. */
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { InferOptError, messageOf } from "../../base/errors.js";
import { scratchPrefix, scratchRoot } from "../../base/scratch-root.js";
import { Tensor } from "../../ir/index.js";
import { type Environment, hasVnni, readEnvironment } from "../environment.js";
import type { SessionOptions } from "../port.js";
import { type OrtRuntime, ortRuntime } from "./client.js";
import { tinyAnswer, tinyInput, tinyInt8Model, tinyModel } from "./tiny-models.js";

export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  /** What was found, in one line. */
  readonly detail: string;
  /** What to do about it, in one line; null when all is well. */
  readonly cure: string | null;
}

const OLDEST_NODE = 20;
const OTHER_SCRATCH = "Set INFER_OPT_TMP to a folder that can be written.";
const SCARCE_BYTES = 2 * 2 ** 30;

/** Runs every check; a check that fails is a finding, never an error. `signal` ends it early. */
export async function examine(signal?: AbortSignal): Promise<readonly Finding[]> {
  const environment = readEnvironment();
  const runtime = ortRuntime({
    timeoutMs: 30_000,
    workers: 1,
    scratch: scratchRoot(process.env),
    ...(signal ? { signal } : {}),
  });
  try {
    return [
      nodeVersion(environment),
      platform(environment),
      await runtimeLoads(runtime),
      ...(await providers(runtime)),
      await answers(runtime, "float32 model", tinyModel()),
      await answers(runtime, "int8 model", tinyInt8Model()),
      int8Instructions(environment),
      images(),
      temporaryFolder(),
      capacity(environment),
    ];
  } finally {
    await runtime.close();
  }
}

const ok = (check: string, detail: string): Finding => ({ check, status: "ok", detail, cure: null });
const warn = (check: string, detail: string, cure: string): Finding => ({ check, status: "warn", detail, cure });
const fail = (check: string, detail: string, cure: string): Finding => ({ check, status: "fail", detail, cure });

function nodeVersion({ node }: Environment): Finding {
  if (Number.parseInt(node, 10) >= OLDEST_NODE) return ok("node", node);
  return fail("node", `${node} is too old`, `Install Node ${OLDEST_NODE} or later.`);
}

function platform({ platform, libc }: Environment): Finding {
  const detail = libc === null ? platform : `${platform}, ${libc}`;
  if (libc === "musl") {
    return fail("platform", detail, "onnxruntime-node needs glibc: use an image such as node:22-bookworm-slim.");
  }
  if (platform === "darwin-x64") {
    return fail("platform", detail, "onnxruntime-node has no build for Macs with Intel CPUs: use a Linux container.");
  }
  return ok("platform", detail);
}

async function runtimeLoads(runtime: OrtRuntime): Promise<Finding> {
  return attempt("onnxruntime", "Remove node_modules and run `npm ci`.", async () => {
    const { version } = await runtime.facts();
    return ok("onnxruntime", `${version} loads in a process of its own`);
  });
}

/** A session of a tiny model is the proof; that a build knows a provider says little. */
async function providers(runtime: OrtRuntime): Promise<Finding[]> {
  const facts = await runtime.facts().catch(() => null);
  if (!facts) return [];
  const names = (bundled: boolean): string =>
    facts.providers.flatMap((each) => (each.bundled === bundled ? [each.name] : [])).join(", ") || "none";
  const findings = [
    ok("providers", `the installed package brings ${names(true)}; it can use, and does not bring: ${names(false)}`),
  ];
  for (const { name, bundled } of facts.providers) {
    const check = `provider ${name}`;
    const cure = bundled ? "Needs a graphics driver on this machine; other providers are not affected." : cureFor(name);
    const finding = await attempt(check, cure, async () => {
      await withModel(tinyModel(), (path) => runtime.describe(path, sessionOn(name)));
      return ok(check, "opens a model");
    });
    // Doing without an accelerator is no fault of the installation.
    findings.push(finding.status === "fail" && name !== "cpu" ? { ...finding, status: "warn" } : finding);
  }
  return findings;
}

/** What a provider lacks that is not part of the package: its own library, or those of the vendor. */
function cureFor(name: string): string {
  const folder = dirname(createRequire(import.meta.url).resolve("onnxruntime-node/package.json"));
  const binaries = join(folder, "bin", "napi-v6", process.platform, process.arch);
  const vendor = name === "tensorrt" ? "CUDA 12, cuDNN and TensorRT" : "CUDA 12 and cuDNN";
  if (existsSync(join(binaries, `libonnxruntime_providers_${name}.so`))) {
    return `Its library is installed: it needs an NVIDIA driver, and ${vendor} where the system finds libraries.`;
  }
  // The script goes by the platform and knows no other.
  if (process.platform !== "linux" || process.arch !== "x64") return "There is no library for this platform.";
  return `Run \`node script/install.js\` in ${folder}: it downloads the library from outside the npm registry. It also needs ${vendor}.`;
}

async function answers(runtime: OrtRuntime, check: string, model: Uint8Array): Promise<Finding> {
  return attempt(check, "Reinstall onnxruntime-node: remove node_modules and run `npm ci`.", async () => {
    const feeds = new Map([["x", Tensor.f32([1, tinyInput.length], tinyInput)]]);
    const outputs = await withModel(model, (path) => runtime.run(path, feeds, sessionOn("cpu")));
    const got = [...(outputs.get("y")?.f32() ?? [])];
    if (got.join() === tinyAnswer.join()) return ok(check, "runs, and the answer is right");
    return fail(
      check,
      `answers ${got.join(", ")} instead of ${tinyAnswer.join(", ")}`,
      "Do not use this machine for quantization: its runtime computes wrong numbers.",
    );
  });
}

function int8Instructions(environment: Environment): Finding {
  const check = "int8 instructions";
  const flags = environment.flags?.join(" ") || "none known";
  switch (hasVnni(environment)) {
    case true:
      return ok(check, `${flags}; INT8 models are plausibly 1.5 to 4 times as fast as float32`);
    case false:
      return warn(
        check,
        `${flags}; without VNNI or dot product INT8 gains less: 1.4 to 1.8 times as fast on x86 with AVX2, elsewhere it can lose time`,
        "Measure before you decide, on the machine that will serve; the smaller file remains.",
      );
    default:
      return warn(check, "this system does not tell them", "Measure INT8 before you decide.");
  }
}

function images(): Finding {
  const check = "images";
  try {
    createRequire(import.meta.url)("sharp");
    return ok(check, "sharp loads; datasets may hold images");
  } catch (error) {
    const reason = messageOf(error).trim().split("\n")[0]!;
    return warn(check, `sharp does not load: ${reason}`, "Only datasets of images need it: `npm install sharp`.");
  }
}

function temporaryFolder(): Finding {
  const check = "temporary folder";
  const path = scratchRoot(process.env);
  try {
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    const detail = `${path}, ${((bavail * bsize) / 2 ** 30).toFixed(1)} GiB free`;
    if (bavail * bsize >= SCARCE_BYTES) return ok(check, detail);
    return warn(check, detail, "Large models need a few copies' room: set INFER_OPT_TMP to a folder on a larger disk.");
  } catch (error) {
    return fail(check, messageOf(error), OTHER_SCRATCH);
  }
}

function capacity({ cores, memoryBytes }: Environment): Finding {
  const check = "capacity";
  const detail = `${cores} cores, ${(memoryBytes / 2 ** 30).toFixed(1)} GiB of memory`;
  if (memoryBytes >= SCARCE_BYTES) return ok(check, detail);
  return warn(check, detail, "Large models may not fit: raise the container's limit, or work on smaller parts.");
}

/** Codes of what is wrong with something else than the check is about. */
const ownCures: ReadonlySet<string> = new Set(["RUNTIME_UNAVAILABLE", "SCRATCH_FAILED"]);

/** A finding in place of an error; a coded one brings its own cure. */
async function attempt(check: string, cure: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof InferOptError && error.kind === "interrupted") throw error;
    const coded = error instanceof InferOptError && ownCures.has(error.code) ? error.hint : undefined;
    return fail(check, messageOf(error).split("\n")[0]!, coded ?? cure);
  }
}

async function withModel<T>(bytes: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  let folder: string | null = null;
  try {
    let path: string;
    try {
      folder = mkdtempSync(join(scratchRoot(process.env), scratchPrefix(process.pid)));
      path = join(folder, "tiny.onnx");
      writeFileSync(path, bytes);
    } catch (cause) {
      const why = `not tried: ${messageOf(cause)}`;
      throw new InferOptError("SCRATCH_FAILED", "runtime", why, { hint: OTHER_SCRATCH, cause });
    }
    return await use(path);
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

const sessionOn = (provider: string): SessionOptions => ({ provider, threads: 1, optimization: "all" });
