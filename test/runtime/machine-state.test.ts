import { describe, expect, it } from "vitest";
import { readMachineState } from "../../src/runtime/machine-state.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const cpu = "sys/devices/system/cpu";

describe("the state of a machine", () => {
  it("is what the system tells", () => {
    const root = temporaryFolder({
      [`${cpu}/cpu0/cpufreq/scaling_governor`]: "powersave\n",
      [`${cpu}/intel_pstate/no_turbo`]: "0\n",
      [`${cpu}/smt/active`]: "1\n",
      "sys/fs/cgroup/cpu.max": "150000 100000\n",
      "sys/class/thermal/thermal_zone0/temp": "41500\n",
      "sys/class/thermal/thermal_zone1/temp": "63000\n",
      "sys/class/thermal/thermal_zone2/temp": "-273000\n",
    });
    expect(readMachineState(root)).toMatchObject({
      ...{ governor: "powersave", boost: true, smt: true, quotaCores: 1.5, temperatureC: 63 },
    });
  });

  it("is null where it does not, and without a quota", () => {
    const root = temporaryFolder({ "sys/fs/cgroup/cpu.max": "max 100000\n", [`${cpu}/cpufreq/boost`]: "0\n" });
    expect(readMachineState(root)).toMatchObject({
      ...{ governor: null, boost: false, smt: null, quotaCores: null, temperatureC: null },
    });
    expect(readMachineState(root).memoryBytes).toBeGreaterThan(2 ** 27);
  });
});
