import { describe, expect, it, vi } from "vitest";
import { watchConditions } from "../../../src/pipeline/measure/conditions.js";
import { RunRecord } from "../../../src/pipeline/run-record.js";
import { allowedProcessors } from "../../../src/runtime/affinity.js";
import type { MachineState } from "../../../src/runtime/machine-state.js";
import { FakeRuntime, fakeContext } from "../../support/fake-runtime.js";
import { runtimeConfig } from "../../support/run-config.js";

const state: MachineState = {
  ...{
    governor: "powersave",
    boost: null,
    smt: false,
    quotaCores: null,
    memoryBytes: 1e9,
    load: 0.5,
    temperatureC: 40,
  },
};
const [processor] = allowedProcessors() ?? [0];
const affinity = [processor!];

function watch(config: Parameters<typeof runtimeConfig>[0], threads = [1]) {
  const later = { ...state, load: 1.5, temperatureC: 50 };
  const machineState = vi.fn<() => MachineState>().mockReturnValueOnce(state).mockReturnValue(later);
  const record = new RunRecord("bench", fakeContext(new FakeRuntime({}), { machineState }));
  const warnings: string[] = [];
  record.warn = (...said) => void warnings.push(...said);
  return { finish: watchConditions(runtimeConfig(config), threads, record), warnings };
}

describe("conditions", () => {
  it("are those before, with what changed meanwhile", () => {
    const { finish, warnings } = watch({});
    expect(finish()).toEqual({
      conditions: {
        ...{ governor: "powersave", boost: null, smt: false, quotaCores: null, memoryBytes: 1e9 },
        ...{ load: [0.5, 1.5], temperatureC: [40, 50], optimization: "all" },
      },
    });
    expect(warnings).toEqual([]);
  });

  it("are not told where nobody looks", () => {
    const record = new RunRecord("bench", fakeContext(new FakeRuntime({})));
    expect(watchConditions(runtimeConfig(), [1], record)()).toEqual({});
  });

  it.runIf(process.platform === "linux")("hold the affinity that was wanted and what was seen, each set once", () => {
    const { finish, warnings } = watch({ affinity });
    expect(finish([affinity, affinity]).conditions!.affinity).toMatchObject({ wanted: affinity, seen: [affinity] });
    expect(warnings).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "warn of threads that were elsewhere, and of more threads than processors",
    () => {
      const { finish, warnings } = watch({ affinity }, [1, 2]);
      finish([affinity, [...affinity, 77]]);
      expect(warnings.join()).toContain("more threads than processors: 2");
      expect(warnings.join()).toContain("77, not on");
    },
  );
});
