import type { ExportFormat } from "../../report/exports.js";
import { palette } from "../../report/palette.js";
import { renderText } from "../../report/text.js";
import type { Command } from "../command.js";
import { answer, writeReport } from "../deliver.js";
import { exitCode } from "../exit-code.js";
import { longName } from "../flag.js";
import { flags } from "../flags.js";
import { sheetFor, wantsColor } from "../io.js";
import { isForReader, openReport } from "../open-report.js";
import { checkPlace } from "../output-path.js";
import { isStandardInput, STANDARD_INPUT } from "../standard-input.js";
import { writeWhole } from "../write-file.js";

const exportFormats: readonly ExportFormat[] = ["csv", "metrics", "benchmarkJson", "resultTrace", "nodeData"];

const fileFlags = ["html", "markdown", "junit", ...exportFormats] as const;

export const report: Command = {
  name: "report",
  group: "Look",
  parameters: "<result>",
  about: "A stored result, to read or in another format",
  note: "On a terminal it opens seven screens: ? lists the keys, q quits. Elsewhere, and with --text, it is printed. - is a result that is piped in. --node-data writes a file for each measure (nodes.json becomes nodes.ms-after.json and so on), which Model Explorer lays over the graph.",
  examples: [
    "infer-opt report result.json",
    "infer-opt report result.json --html report.html --markdown gate.md --csv layers.csv",
  ],
  flags: ["text", ...fileFlags],
  exits: [exitCode.done, exitCode.usage, exitCode.input, exitCode.interrupted],
  async run(invocation) {
    const { parameters, settings, io } = invocation;
    const path = parameters[0]!;
    const files = [
      { path: settings.html, format: "html" },
      { path: settings.markdown, format: "md" },
      { path: settings.junit, format: "xml" },
    ] as const;
    const exported = exportFormats.map((format) => ({ path: settings[format], format }));
    const places = fileFlags.flatMap((name) => {
      const to = settings[name];
      return to === null ? [] : [{ flag: longName(flags[name]), path: to }];
    });
    for (const [i, place] of places.entries()) checkPlace(place, [path], places.slice(0, i));
    const { parseResult, readResult } = await import("../../report/read-result.js");
    const result = isStandardInput(path) ? parseResult(STANDARD_INPUT, io.readInput()) : readResult(path);
    const commandLine = result.commandLine ?? null;
    for (const file of files)
      if (file.path !== null) await writeReport(result, { ...file, path: file.path }, commandLine);
    const wanted = exported.flatMap(({ path: to, format }) => (to === null ? [] : [{ to, format }]));
    if (wanted.length > 0) {
      const { exportResult } = await import("../../report/exports.js");
      for (const { to, format } of wanted) {
        for (const file of exportResult(result, format, to)) writeWhole(file.path, file.text);
      }
    }
    const isWritten = wanted.length > 0 || files.some((file) => file.path !== null);
    if (isForReader(invocation) && !isWritten) return openReport(result, invocation);
    answer(invocation, renderText(result, palette(wantsColor(io, "stdout")), commandLine, undefined, sheetFor(io)), {
      ...result,
      command: result.command,
    });
    return exitCode.done;
  },
};
