import type { RunResult } from "../../../pipeline/result.js";
import { environmentRows } from "../../environment-rows.js";
import { html } from "../markup.js";
import type { Panel } from "../panel.js";

export function environmentPanel(result: RunResult, commandLine: string | null): Panel {
  const lines = environmentRows(result).map(
    ([what, said]) => html`<tr><th scope="row">${what}</th><td>${said}</td></tr>`,
  );
  const command = commandLine === null ? null : html`<p>Command</p><pre class="command">${commandLine}</pre>`;
  return {
    id: "environment",
    title: "Environment",
    body: [html`<div class="table"><table><tbody>${lines}</tbody></table></div>${command}`],
  };
}
