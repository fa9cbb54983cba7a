import { palette } from "../../report/palette.js";
import { renderText } from "../../report/text.js";
import type { Command } from "../command.js";
import { answer, writeReport } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { sheetFor, wantsColor } from "../io.js";
import { requiredOutput } from "../output-path.js";

export const report: Command = {
  name: "report",
  group: "Look",
  parameters: "<result>",
  about: "A stored result as text, page, Markdown, JUnit",
  examples: [
    "infer-opt report result.json",
    "infer-opt report result.json --html report.html --markdown gate.md --junit gate.xml",
  ],
  flags: ["html", "markdown", "junit"],
  exits: [exitCode.done, exitCode.usage, exitCode.input],
  async run(invocation) {
    const { parameters, settings, io } = invocation;
    const path = parameters[0]!;
    const files = [
      { path: settings.html, format: "html" },
      { path: settings.markdown, format: "md" },
      { path: settings.junit, format: "xml" },
    ] as const;
    for (const file of files) if (file.path !== null) requiredOutput({ output: file.path }, [path]);
    const { readResult } = await import("../../report/read-result.js");
    const result = readResult(path);
    const commandLine = result.commandLine ?? null;
    for (const file of files)
      if (file.path !== null) await writeReport(result, { ...file, path: file.path }, commandLine);
    answer(invocation, renderText(result, palette(wantsColor(io, "stdout")), commandLine, undefined, sheetFor(io)), {
      ...result,
      command: result.command,
    });
    return exitCode.done;
  },
};
