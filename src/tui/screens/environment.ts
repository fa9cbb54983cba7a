/** Where and how it was measured: without that, numbers are not worth much. */
import { conditionsText } from "../../report/conditions.js";
import { bytes, duration, plural } from "../../report/numbers.js";
import type { TextScreen } from "../screen.js";
import { titled } from "./rows.js";

export const environment: TextScreen = {
  kind: "text",
  name: "environment",
  title: "Environment",
  about: "The machine, versions, files with their digests, the stages of the run with their times, and the command.",
  keys: () => [],
  text: ({ book: { result, commandLine, path }, width }) => {
    const {
      environment: machine,
      resources,
      tool,
      model,
      output,
      candidateModel,
      latency,
      conditions,
      stages,
    } = result;
    const after = output ?? candidateModel;
    const where = latency ? `${latency.provider}, ${plural(latency.threads, "thread")}, batch ${latency.batch}` : "";
    const spent = new Map<string, number>();
    for (const { stage, wallMs } of stages) spent.set(stage, (spent.get(stage) ?? 0) + wallMs);
    const rows: (readonly [string, string])[] = [
      ["machine", `${machine.cpu}, ${plural(machine.cores, "core")}, ${machine.platform}`],
      ["flags", machine.flags.join(" ") || "unknown"],
      ["versions", `infer-opt ${tool.version}, Node ${machine.node}, onnxruntime ${machine.onnxruntime}`],
      ...(where === "" ? [] : [["timed on", where] as const]),
      ...(conditions ? [["conditions", conditionsText(conditions)] as const] : []),
      ["this run", `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}`],
      ...(spent.size === 0
        ? []
        : [["stages", [...spent].map(([stage, ms]) => `${stage} ${duration(ms)}`).join(", ")] as const]),
      ["before", `${model.path}, sha256 ${model.sha256}`],
      ...(after ? [["after", `${after.path}, sha256 ${after.sha256}`] as const] : []),
      ["result", path],
      ["command", commandLine ?? "not in this result: it was written by an earlier version"],
    ];
    return rows.flatMap(([title, text]) => titled(title, text, width));
  },
};
