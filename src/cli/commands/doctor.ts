import { renderFindings } from "../../report/doctor.js";
import { palette } from "../../report/palette.js";
import type { Command } from "../command.js";
import { answer } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { wantsColor } from "../io.js";
import { untilInterrupted } from "../run-context.js";

export const doctor: Command = {
  name: "doctor",
  group: "Machine",
  parameters: "",
  about: "What this machine can run, and cures",
  examples: ["infer-opt doctor", "infer-opt doctor --json"],
  flags: [],
  exits: [exitCode.done, exitCode.usage, exitCode.runtime, exitCode.interrupted],
  async run(invocation) {
    const { actions, io } = invocation;
    const findings = await untilInterrupted(io, (signal) => actions.doctor(signal));
    answer(invocation, renderFindings(findings, palette(wantsColor(io, "stdout"))), { findings });
    return findings.some(({ status }) => status === "fail") ? exitCode.runtime : exitCode.done;
  },
};
