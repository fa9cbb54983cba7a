/** What else decides how fast a model runs on a machine at a moment, as far as the system tells. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { loadavg, totalmem } from "node:os";
import { join } from "node:path";

export interface MachineState {
  /** How the clock is driven (performance, powersave, ...). null here and below: the system does not tell. */
  readonly governor: string | null;
  /** Whether the clock may go above its nominal rate. */
  readonly boost: boolean | null;
  /** Whether two processors may share a core. */
  readonly smt: boolean | null;
  /** Processors' worth of time that a container may use. */
  readonly quotaCores: number | null;
  readonly memoryBytes: number;
  /** Mean number of busy processors over the last minute. */
  readonly load: number | null;
  /** The hottest place that is measured, degrees Celsius. */
  readonly temperatureC: number | null;
}

/** `root`: of the file system. */
export function readMachineState(root = "/"): MachineState {
  const text = (path: string): string | null => {
    const whole = join(root, path);
    return existsSync(whole) ? readFileSync(whole, "utf8").trim() : null;
  };
  const flag = (path: string): boolean | null => {
    const value = text(path);
    return value === null ? null : value === "1";
  };
  const noTurbo = flag("sys/devices/system/cpu/intel_pstate/no_turbo");
  return {
    governor: text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    boost: noTurbo === null ? flag("sys/devices/system/cpu/cpufreq/boost") : !noTurbo,
    smt: flag("sys/devices/system/cpu/smt/active"),
    quotaCores: quotaOf(text("sys/fs/cgroup/cpu.max")),
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
    load: process.platform === "win32" ? null : Math.round(loadavg()[0]! * 100) / 100,
    temperatureC: hottest(join(root, "sys/class/thermal")),
  };
}

/** "200000 100000": microseconds of each period; "max ..." is no quota. */
function quotaOf(text: string | null): number | null {
  const parts = text === null ? null : /^(\d+) (\d+)$/.exec(text);
  return parts ? Number(parts[1]) / Number(parts[2]) : null;
}

function hottest(folder: string): number | null {
  if (!existsSync(folder)) return null;
  const degrees = readdirSync(folder)
    .filter((name) => name.startsWith("thermal_zone") && existsSync(join(folder, name, "temp")))
    .map((name) => Number(readFileSync(join(folder, name, "temp"), "utf8")) / 1000)
    // Sensors that are off say 0 or worse.
    .filter((celsius) => celsius > 0 && celsius < 150);
  return degrees.length === 0 ? null : Math.max(...degrees);
}
