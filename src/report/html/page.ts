/**
 * A result as one page that asks for nothing: no request, no font, no script but its own. The same result gives the
 * same bytes. Everything that a chart shows stands in a table as well.
 */
import { createHash } from "node:crypto";
import type { RunResult } from "../../pipeline/result.js";
import { afterOf } from "../../pipeline/sides.js";
import { openLimits, verdictSummary, verdictWord } from "../limits.js";
import { fileNames, modelNames } from "../model-names.js";
import { suggest } from "../next.js";
import { html, Markup } from "./markup.js";
import type { Panel } from "./panel.js";
import { answersPanel } from "./panels/answers.js";
import { calibrationPanel } from "./panels/calibration.js";
import { candidatesPanel } from "./panels/candidates.js";
import { decisionsPanel } from "./panels/decisions.js";
import { depthPanel } from "./panels/depth.js";
import { environmentPanel } from "./panels/environment.js";
import { graphPanel } from "./panels/graph.js";
import { latencyPanel } from "./panels/latency.js";
import { layersPanel } from "./panels/layers.js";
import { lossesPanel } from "./panels/losses.js";
import { measurementsPanel } from "./panels/measurements.js";
import { memoryPanel } from "./panels/memory.js";
import { pruningPanel } from "./panels/pruning.js";
import { rooflinePanel } from "./panels/roofline.js";
import { timePanel } from "./panels/time.js";
import { differencesPanel, verdictPanel } from "./panels/verdict.js";
import { SCRIPT } from "./script/script.js";
import { STYLE } from "./style.js";

/** `commandLine`: of the command that made the result, null when nobody knows. */
export function renderHtml(result: RunResult, commandLine: string | null = null): string {
  // Of a profile that is the answer; of other commands it explains.
  const times = [timePanel(result), rooflinePanel(result)];
  const panels = [
    verdictPanel(result, commandLine),
    measurementsPanel(result),
    latencyPanel(result),
    ...(result.profile ? times : []),
    candidatesPanel(result),
    pruningPanel(result),
    answersPanel(result),
    lossesPanel(result, commandLine),
    layersPanel(result, commandLine),
    graphPanel(result),
    ...(result.profile ? [] : times),
    memoryPanel(result),
    calibrationPanel(result),
    depthPanel(result),
    differencesPanel(result),
    decisionsPanel(result),
    environmentPanel(result, commandLine),
  ].filter(({ body }) => body.length > 0);
  const { model } = result;
  const after = afterOf(result);
  const pair = [model, ...(after ? [after] : [])];
  const files = fileNames(pair);
  const names = result.bench
    ? modelNames(result.bench.models.map((row) => row.model)).join(", ")
    : pair.map(({ path }) => files.get(path)!).join(" → ");
  const word = verdictWord(result);
  const summary = verdictSummary(result) ?? openLimits(result);
  const next = result.verdict.status === "pass" ? null : suggest(result, commandLine);
  return ascii(
    `<!doctype html>\n${
      html`<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${word}: ${names}</title>
<style>${new Markup(STYLE)}</style></head>
<body><header><h1><span class="word ${result.verdict.status}">${word}</span>${names}</h1>${summary === "" ? null : html`<p>${summary}${next ? html`. <a href="#next">Next: ${next.why}</a>` : null}</p>`}<p class="faint">infer-opt ${result.command}</p></header>
<nav aria-label="Panels"><ul>${panels.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
<main>${panels.map(section)}</main>
<script>${new Markup(SCRIPT)}</script>
</body></html>`.text
    }\n`,
  );
}

/** A browser reads a page of one-byte characters, and makes elements of it, in less time: the others are spelled as references. */
const ascii = (page: string): string => page.replace(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);

const section = ({ id, title, body }: Panel): Markup =>
  html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${body}</section>\n`;

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is loaded from anywhere; only this style and this script run. */
const policy = `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(SCRIPT)}; base-uri 'none'; form-action 'none'`;
