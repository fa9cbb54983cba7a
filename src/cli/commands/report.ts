import { palette } from "../../report/palette.js";
import { renderText } from "../../report/text.js";
import type { Command } from "../command.js";
import { answer, writeReport } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { sheetFor, wantsColor } from "../io.js";
import { isForReader, openReport } from "../open-report.js";
import { requiredOutput } from "../output-path.js";

export const report: Command = {
  name: "report",
  group: "Look",
  parameters: "<result>",
  about: "A stored result to read, page, Markdown, JUnit",
  note: "On a terminal it opens seven screens: ? lists the keys, q quits. Elsewhere, and with --text, it is printed.",
  examples: [
    "infer-opt report result.json",
    "infer-opt report result.json --html report.html --markdown gate.md --junit gate.xml",
  ],
  flags: ["text", "html", "markdown", "junit"],
  exits: [exitCode.done, exitCode.usage, exitCode.input, exitCode.interrupted],
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
    if (isForReader(invocation) && files.every((file) => file.path === null)) return openReport(result, invocation);
    answer(invocation, renderText(result, palette(wantsColor(io, "stdout")), commandLine, undefined, sheetFor(io)), {
      ...result,
      command: result.command,
    });
    return exitCode.done;
  },
};
