import type { RunResult } from "../../../pipeline/result.js";
import { bytes, duration, plural } from "../../numbers.js";
import { html } from "../markup.js";
import type { Panel } from "../panel.js";

export function environmentPanel(result: RunResult, commandLine: string | null): Panel {
  const { environment, resources, tool, model, output, candidateModel } = result;
  const { cpu, flags, cores, platform, node, onnxruntime } = environment;
  const after = output ?? candidateModel;
  const rows: (readonly [string, string])[] = [
    ["machine", `${cpu}, ${plural(cores, "core")}, ${platform}`],
    ["flags", flags.join(" ") || "unknown"],
    ["versions", `infer-opt ${tool.version}, Node ${node}, onnxruntime ${onnxruntime}`],
    ["this run", `${duration(resources.wallMs)}, peak memory ${bytes(resources.peakRssBytes)}`],
    ["before", `${model.path}, sha256 ${model.sha256}`],
    ...(after ? [["after", `${after.path}, sha256 ${after.sha256}`] as const] : []),
  ];
  const lines = rows.map(([what, said]) => html`<tr><th scope="row">${what}</th><td>${said}</td></tr>`);
  const command = commandLine === null ? null : html`<p>Command</p><pre class="command">${commandLine}</pre>`;
  return {
    id: "environment",
    title: "Environment",
    body: [html`<div class="table"><table><tbody>${lines}</tbody></table></div>${command}`],
  };
}
