/** What machine and software a result was made on, as facts for reports; nothing here runs a model. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

export interface Environment {
  /** The processor's own name; "unknown" where the system does not tell. */
  readonly cpu: string;
  /** Instruction sets that decide how fast a model runs, sorted; null where they cannot be told. */
  readonly flags: readonly string[] | null;
  /** Cores this process may use. */
  readonly cores: number;
  /** Bytes this process may use: the machine's memory, or less where a container limits it. */
  readonly memoryBytes: number;
  /** linux-x64, darwin-arm64, ... */
  readonly platform: string;
  /** The C library on Linux ("glibc 2.36", "musl"), else null. */
  readonly libc: string | null;
  readonly node: string;
  /** Version of onnxruntime-node; null when it is not installed. */
  readonly onnxruntime: string | null;
  /** How the clock is driven (performance, powersave, ...), null where that is hidden. */
  readonly governor: string | null;
  /** Mean number of busy cores over the last minute; null on Windows, which does not count it. */
  readonly load: number | null;
}

export function readEnvironment(): Environment {
  const windows = process.platform === "win32";
  return {
    cpu: cpuName(),
    flags: cpuFlags(),
    cores: availableParallelism(),
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    platform: `${process.platform}-${process.arch}`,
    // Asked of few, and the answer takes a while.
    get libc() {
      return process.platform === "linux" ? libc() : null;
    },
    node: process.versions.node,
    onnxruntime: onnxruntimeVersion(),
    governor: textOf("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    load: windows ? null : Math.round(loadavg()[0]! * 100) / 100,
  };
}

/**
 * Whether the processor multiplies and adds 8-bit integers in one instruction (VNNI or AMX
 * on x86, dot product or i8mm on ARM): without it INT8 gains less. null: unknown.
 */
export function hasVnni({ flags }: Pick<Environment, "flags">): boolean | null {
  return flags === null ? null : flags.some((flag) => int8Flags.has(flag));
}

const int8Flags: ReadonlySet<string> = new Set(["avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm", "svei8mm"]);

/** As /proc/cpuinfo spells them. */
const relevantFlags: ReadonlySet<string> = new Set([
  ...int8Flags,
  ...[
    "sse4_1",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512_bf16",
    "avx512_fp16",
    "amx_bf16",
    "amx_tile",
  ],
  ...["asimd", "asimdhp", "bf16", "sve", "sve2"],
]);

/** The flags that matter, out of the text of /proc/cpuinfo. */
export function flagsOfCpuinfo(text: string): string[] {
  // x86 says "flags", ARM says "Features"; every core repeats them.
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(text)?.[1] ?? "";
  return line
    .trim()
    .split(/\s+/)
    .filter((flag) => relevantFlags.has(flag))
    .sort();
}

/** What sysctl calls them on a Mac. */
const appleFlags: Readonly<Record<string, string>> = {
  "hw.optional.AdvSIMD": "asimd",
  "hw.optional.arm.FEAT_DotProd": "asimddp",
  "hw.optional.arm.FEAT_FP16": "asimdhp",
  "hw.optional.arm.FEAT_I8MM": "i8mm",
  "hw.optional.arm.FEAT_BF16": "bf16",
};

/** The flags that are 1 in the output of `sysctl -a hw.optional`. */
export function flagsOfSysctl(text: string): string[] {
  return Object.entries(appleFlags)
    .filter(([key]) => new RegExp(`^${key.replaceAll(".", "\\.")}: 1$`, "m").test(text))
    .map(([, flag]) => flag)
    .sort();
}

function cpuFlags(): string[] | null {
  if (process.platform === "linux") {
    const text = textOf("/proc/cpuinfo");
    return text === null ? null : flagsOfCpuinfo(text);
  }
  if (process.platform === "darwin" && process.arch === "arm64") {
    return flagsOfSysctl(execFileSync("/usr/sbin/sysctl", ["hw.optional"], { encoding: "utf8" }));
  }
  return null;
}

function cpuName(): string {
  const name = cpus()[0]?.model.trim().replace(/\s+/g, " ");
  return name && name !== "unknown" ? name : "unknown";
}

/** The process report knows the C library that Node runs with. */
function libc(): string {
  const report = process.report;
  // Resolving the names of network peers can take seconds and is not wanted here.
  (report as { excludeNetwork?: boolean }).excludeNetwork = true;
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime ? `glibc ${header.glibcVersionRuntime}` : "musl";
}

function onnxruntimeVersion(): string | null {
  const require = createRequire(import.meta.url);
  const found = require.resolve.paths("onnxruntime-node")?.map((folder) => `${folder}/onnxruntime-node/package.json`);
  const path = found?.find((candidate) => existsSync(candidate));
  return path ? (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version : null;
}

function textOf(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}
